/** Writes of admissions, and what becomes of those that fail. */
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAdmissionWriter, type AdmissionWriter } from '../../../../../manager/admission/controllers/admission-writer.ts';
import { createAdmissionRetries, type AdmissionRetries } from '../../../../../manager/admission/snapshot/admission-retries.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { createRecordKeeper } from '../../../../../manager/api/record-keeper.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import {
  ADMISSION_ANNOTATION,
  CLUSTER_LABEL,
  COPIES_FINALIZER,
  HOLD_ANNOTATION,
  TRACE_ID_ANNOTATION,
} from '../../../../../shared/api/names.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { createObjectCache } from '../../../../../shared/kube/indexer.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import type { WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aHomeJob, aRecord, TEST_RECORD_KEYS } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const stopping = new AbortController();
const { signal } = stopping;

let clock: FakeClock;
let registry: Registry;
let retries: AdmissionRetries;
let writer: AdmissionWriter;
let jobs: ReturnType<typeof createObjectCache<WorkObject>>;
/** Admissions that are assumed, by key. */
let assumed: Map<string, Reservation>;
/** Writes of records, and of conditions, by the name of the Job. */
let sent: { readonly name: string; readonly body: Body }[];
let reported: { readonly name: string; readonly body: Body }[];
/** What was made of failures. */
let outcomes: string[];
let events: string[];
let wakes: number;
/** What the API server does with a record, and with a condition. */
let server: (name: string) => Promise<void>;
let statusServer: () => Promise<void>;
type Body = { readonly metadata: Record<string, unknown>; readonly spec?: unknown; readonly status?: unknown };

const make = (traceRatio?: number): AdmissionWriter => {
  registry = new Registry();
  const write =
    (into: () => { readonly name: string; readonly body: Body }[], answer: (name: string) => Promise<void>) =>
    async (_resource: unknown, { name }: { readonly name: string }, { body }: { readonly body: unknown }): Promise<WorkObject> => {
      into().push({ name, body: body as Body });
      await answer(name);
      return jobs.get({ namespace: 'team', name }) as WorkObject;
    };
  const client = {
    patch: write(
      () => sent,
      (name) => server(name),
    ),
    patchStatus: write(
      () => reported,
      () => statusServer(),
    ),
  };
  return createAdmissionWriter({
    kind: JOB_KIND,
    client: client as never,
    events: {
      event: (_resource: unknown, job: WorkObject, type: string, reason: string) => events.push(`${job.metadata.name} ${type} ${reason}`),
    } as never,
    jobs,
    cache: { get: (key: string) => assumed.get(key) } as never,
    retries,
    watcher: {
      giveUp: ({ workload }, { message }) => void outcomes.push(`gives up ${workload.name}: ${message}`),
      doubt: ({ workload }) => void outcomes.push(`doubts ${workload.name}`),
      retry: (key) => void outcomes.push(`tries ${key} anew`),
    },
    records: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND),
    ...(traceRatio === undefined ? {} : { traceRatio }),
    wake: () => void wakes++,
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(registry).admission,
  });
};
beforeEach(() => {
  [clock, retries] = [new FakeClock(), createAdmissionRetries()];
  jobs = createObjectCache<WorkObject>();
  assumed = new Map();
  [sent, reported, outcomes, events, wakes] = [[], [], [], [], 0];
  server = statusServer = async () => undefined;
  writer = make();
});

function assume(name: string, parts: Parameters<typeof aWorkload>[2] = {}, record: Parameters<typeof aRecord>[0] = {}): Reservation {
  jobs.set(aHomeJob({ metadata: { name, uid: name, resourceVersion: '1' } }));
  const workload = aWorkload(name, { cpu: '1' }, parts);
  const reservation: Reservation = { workload, record: aRecord(record), held: workload.requests, assumed: true };
  assumed.set(workload.key, reservation);
  return reservation;
}
const answering =
  (code: number, reason = 'Reason') =>
  async (): Promise<void> => {
    throw new ApiError(code, { message: `said ${code}`, reason });
  };
const figures = async (...names: string[]): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => names.some((name) => line.startsWith(`${name}{`)) && !line.endsWith(' 0'));

describe('an admission', () => {
  test('is one write on the version that it was decided for: record, cluster, finalizer and release', async () => {
    writer.write(assume('a', { finalizers: ['x', COPIES_FINALIZER] }), signal);
    await clock.advance(0);
    expect(sent).toEqual([
      {
        name: 'a',
        body: {
          metadata: {
            resourceVersion: '1',
            labels: { [CLUSTER_LABEL]: 'eu-1' },
            annotations: { [ADMISSION_ANNOTATION]: expect.any(String) as string },
            finalizers: ['x', COPIES_FINALIZER],
          },
          spec: { suspend: false },
        },
      },
    ]);
    expect(await figures('switchyard_admitted_workloads_total', 'switchyard_admission_wait_time_seconds_count')).toHaveLength(2);
    expect([outcomes, wakes, retries.nextMs()]).toEqual([[], 1, undefined]);
  });

  test('that waits for checks reserves, and releases nothing; the next one lifts a hold', async () => {
    writer.write(assume('a', {}, { checks: ['budget'] }), signal);
    writer.write(assume('b', { hold: 'User' as never }), signal);
    await clock.advance(0);
    expect(sent[0]?.body.spec).toBeUndefined();
    expect(sent[0]?.body.metadata['annotations']).not.toHaveProperty(HOLD_ANNOTATION);
    expect(sent[1]?.body.metadata['annotations']).toHaveProperty([HOLD_ANNOTATION], null);
    expect(await figures('switchyard_admitted_workloads_total')).toHaveLength(1);
  });

  test('tells the trace of a Job that is traced', async () => {
    writer = make(1);
    writer.write(assume('a'), signal);
    await clock.advance(0);
    expect(sent[0]?.body.metadata['annotations']).toHaveProperty([TRACE_ID_ANNOTATION]);
  });

  test('takes one of 64 slots while it is under way', async () => {
    const held = Promise.withResolvers<void>();
    server = () => held.promise;
    for (let n = 0; n < 63; n++) writer.write(assume(`j${n}`), signal);
    expect(writer.hasRoom()).toBe(true);
    writer.write(assume('last'), signal);
    expect(writer.hasRoom()).toBe(false);
    held.resolve();
    await writer.idle();
    expect([writer.hasRoom(), wakes]).toEqual([true, 64]);
  });

  test.each([
    [409, 'Conflict'],
    [404, 'NotFound'],
  ])('of a Job that has changed or is gone (%i) is left to what the informer brings', async (code, reason) => {
    server = answering(code, reason);
    writer.write(assume('a'), signal);
    await clock.advance(60_000);
    expect([sent.length, outcomes, retries.failuresOf('team/a')]).toEqual([1, [], 0]);
    expect(await figures('switchyard_admission_write_failures_total')).toHaveLength(1);
  });

  test('without an answer is sent again as it was, later and later, until there is one', async () => {
    let isCut = true;
    server = async () => {
      if (isCut) throw new Error('the line is cut');
    };
    writer.write(assume('a'), signal);
    await clock.advance(499);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect(sent).toHaveLength(2);
    await clock.advance(999);
    expect(sent).toHaveLength(2);
    isCut = false;
    await clock.advance(1);
    expect([sent.length, outcomes]).toEqual([3, []]);
    expect(sent.every(({ body }) => JSON.stringify(body) === JSON.stringify(sent[0]?.body))).toBe(true);
    await clock.advance(60_000);
    expect(sent).toHaveLength(3);
  });

  test('without an answer is not sent again once it is no longer assumed', async () => {
    server = () => Promise.reject(new Error('the line is cut'));
    writer.write(assume('a'), signal);
    await clock.advance(0);
    assumed.clear();
    await clock.advance(60_000);
    expect(sent).toHaveLength(1);
  });
});

describe('an admission that the API server does not store', () => {
  test.each([
    [403, true],
    [422, true],
    [499, true],
    [429, false],
    [500, false],
  ])('with %i is given up at once: %s', async (code, isRefused) => {
    server = answering(code);
    writer.write(assume('a'), signal);
    await clock.advance(0);
    expect(outcomes).toEqual(isRefused ? [`gives up a: said ${code}`] : []);
    expect([retries.failuresOf('team/a'), retries.nextMs()]).toEqual([1, clock.now() + 500]);
  });

  test('is sent again as it was when that is due', async () => {
    server = answering(500);
    writer.write(assume('a'), signal);
    await clock.advance(0);
    writer.retryDue(signal);
    expect(sent).toHaveLength(1);
    const before = wakes;
    await clock.advance(500);
    expect(wakes).toBe(before + 1);
    server = async () => undefined;
    writer.retryDue(signal);
    await clock.advance(0);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect([retries.failuresOf('team/a'), outcomes]).toEqual([0, []]);
  });

  test('and is no longer assumed is tried anew', async () => {
    server = answering(500);
    writer.write(assume('a'), signal);
    await clock.advance(500);
    assumed.clear();
    writer.retryDue(signal);
    expect([sent.length, outcomes]).toEqual([1, ['tries team/a anew']]);
  });

  test('and was replaced meanwhile counts for nothing', async () => {
    server = async () => {
      assumed.clear();
      await answering(500)();
    };
    writer.write(assume('a'), signal);
    await clock.advance(0);
    expect([retries.failuresOf('team/a'), outcomes]).toEqual([0, []]);
  });

  const failThrice = async (): Promise<void> => {
    server = answering(500);
    writer.write(assume('a'), signal);
    for (const delayMs of [500, 1_000]) {
      await clock.advance(delayMs);
      writer.retryDue(signal);
      await clock.advance(0);
    }
  };

  test('three times says so, once as an event, and gives its quota back: the condition proves that nothing was stored', async () => {
    await failThrice();
    const message = 'the API server has failed to store its admission 3 times: said 500';
    const condition = { type: 'QuotaReserved', status: 'False', message };
    const conditions: unknown = expect.arrayContaining([expect.objectContaining(condition)]);
    expect(reported).toMatchObject([{ name: 'a', body: { metadata: { resourceVersion: '1' }, status: { conditions } } }]);
    expect([events, outcomes]).toEqual([['a Warning AdmissionRefused'], ['doubts a', `gives up a: ${message}`]]);
    await clock.advance(2_000);
    writer.retryDue(signal);
    await clock.advance(0);
    expect([events.length, reported.length]).toEqual([1, 2]);
  });

  test('three times keeps its quota while nobody can tell', async () => {
    statusServer = answering(500);
    await failThrice();
    expect([reported.length, outcomes]).toEqual([1, ['doubts a']]);
  });

  test('three times keeps its quota where its Job has changed: the write may have been carried out', async () => {
    const change = (): unknown => jobs.set(aHomeJob({ metadata: { name: 'a', uid: 'a', resourceVersion: '2' } }));
    server = answering(500);
    writer.write(assume('a'), signal);
    change();
    for (const delayMs of [500, 1_000]) {
      await clock.advance(delayMs);
      writer.retryDue(signal);
      await clock.advance(0);
    }
    expect([reported, events, outcomes]).toEqual([[], [], ['doubts a']]);
  });
});

describe('retries', () => {
  test('take eight slots at most, so that failures that are slow leave slots for first attempts', async () => {
    const failing = Array.from({ length: 9 }, (_, n) => `f${n}`);
    server = answering(500);
    for (const name of failing) writer.write(assume(name), signal);
    await clock.advance(500);
    const held = Promise.withResolvers<void>();
    server = () => held.promise;
    writer.retryDue(signal);
    expect([sent.length, writer.hasRoom()]).toEqual([17, true]);
    const left = failing.find((name) => !sent.slice(9).some((each) => each.name === name)) ?? '';
    expect([writer.mayTry(`team/${left}`), writer.mayTry('team/new')]).toEqual([false, true]);
    expect(retries.nextMs()).toBe(clock.now() + 500);
    held.resolve();
    await clock.advance(0);
    expect(writer.mayTry(`team/${left}`)).toBe(true);
  });
});
