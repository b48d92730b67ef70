/** The ledger of submissions on an embedded control plane, whose answers get lost, come late, or say no. */
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { runConsumer } from '../../../../manager/submission/consumer.ts';
import { created, ended, intendedEntry, type LedgerEntry } from '../../../../manager/submission/ledger.ts';
import { LEDGER_LIMITS, type LedgerLimits } from '../../../../manager/submission/ledger-book.ts';
import { createSubmissionLedger, type SubmissionLedger } from '../../../../manager/submission/ledger-store.ts';
import type { Acceptance, Outcome, Submission, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { LEDGER_LABEL } from '../../../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../../../shared/kube/client.ts';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom, type Random } from '../../../../shared/runtime/random.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { noting } from '../../../support/noting-client.ts';
import { aSubmission } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const clock = new FakeClock();
const NAMESPACE = 'switchyard';
const DONE: Outcome = { kind: 'Completed', result: { namespace: 'team', name: 'sum', uid: 'u', succeeded: 1, failed: 0 } };
const DAY_MS = 24 * 3600 * 1000;
type Client = ReadClient & WriteClient;

let cluster: EmbeddedCluster;
const stops: AbortController[] = [];
beforeAll(async () => {
  cluster = await startCluster(clock);
  for (const name of ['team', NAMESPACE]) await cluster.client.create(NAMESPACES, { metadata: { name } });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  for (const { metadata } of (await cluster.client.list(CONFIG_MAPS)).items)
    await cluster.client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: metadata.name });
});
afterAll(() => cluster.plane.close());

async function start(
  client: Client = cluster.client,
  parts: { readonly limits?: LedgerLimits; readonly runs?: (entry: LedgerEntry) => boolean } = {},
): Promise<SubmissionLedger & { stop(): Promise<void> }> {
  const metrics = createManagerMetrics(new Registry()).ledger;
  const ledger = createSubmissionLedger({ client, namespace: NAMESPACE, runs: () => false, clock, log: silentLogger, metrics, ...parts });
  const stop = new AbortController();
  stops.push(stop);
  const running = ledger.run(stop.signal);
  await clock.advance(10);
  return {
    ...ledger,
    async stop() {
      stop.abort(new Error('stopped'));
      await clock.advance(1_000);
      await running;
    },
  };
}
const intent = (name = 'sum'): LedgerEntry =>
  intendedEntry({ payload: 'p', submittedAt: 1, attemptsMade: 0 }, 1, { namespace: 'team', name }, clock.now());
const chunks = async () => (await cluster.client.list(CONFIG_MAPS, { namespace: NAMESPACE, labelSelector: LEDGER_LABEL })).items;
/** Time passes, and the ledger is reviewed. */
async function days(count: number): Promise<void> {
  clock.stepTimeOfDay(count * DAY_MS);
  await clock.advance(200_000);
}
const settled = async <T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> => {
  const all = Promise.allSettled([promise]);
  await clock.advance(2_000);
  return (await all)[0] as PromiseSettledResult<T>;
};

describe('the ledger', () => {
  test('is known to whoever leads next, marks of the last second included', async () => {
    const first = await start();
    await settled(first.of('shared').put('k', intent()));
    first.of('shared').mark('k', created(1, { namespace: 'team', name: 'sum' }, 'u', clock.now()));
    await first.stop();
    const second = await start();
    expect(second.of('shared').get('k')).toMatchObject({ state: 'Created', uid: 'u' });
    expect(second.of('another').get('k')).toBeUndefined();
  });

  test('writes a burst of a thousand with a few calls, and what comes alone at once', async () => {
    const calls: string[] = [];
    const ledger = await start(noting(cluster.client, calls));
    const alone = ledger.of('shared').put('alone', intent());
    await clock.settle();
    await alone;
    expect(calls).toHaveLength(1);
    const burst = Array.from({ length: 1_000 }, (_, index) => ledger.of('shared').put(`k${index}`, intent(`job-${index}`)));
    await clock.advance(400);
    await Promise.all(burst);
    expect(calls.length).toBeLessThanOrEqual(7);
    for (let index = 0; index < 1_000; index++) ledger.of('shared').mark(`k${index}`, ended({ uid: 'u' }, DONE, clock.now()));
    await clock.advance(3_000);
    expect(calls.length).toBeLessThanOrEqual(13);
    expect(Object.keys((await chunks())[0]?.data ?? {})).toHaveLength(LEDGER_LIMITS.chunkEntries);
  });

  test('marks are written with what comes next, and within a second where nothing does', async () => {
    const calls: string[] = [];
    const ledger = (await start(noting(cluster.client, calls))).of('shared');
    await settled(ledger.put('a', intent()));
    ledger.mark('a', created(1, { namespace: 'team', name: 'sum' }, 'u', clock.now()));
    await clock.advance(900);
    expect(calls).toHaveLength(1);
    await settled(ledger.put('b', intent()));
    expect(calls).toHaveLength(2);
    ledger.mark('a', ended({ uid: 'u' }, DONE, clock.now()));
    await clock.advance(1_000);
    expect(calls).toHaveLength(3);
    await clock.advance(30_000);
    expect(calls).toHaveLength(3);
  });

  test.each([
    ['one a second', 1_000, 1, 60, 3],
    ['a hundred a second', 10, 1, 2_000, 0.25],
    ['a burst of a thousand', 0, 1_000, 1, 0.02],
  ])('costs few calls for each submission, intent, Job and end together: %s', async (_name, everyMs, atOnce, times, callsMax) => {
    const calls: string[] = [];
    const { client } = cluster;
    const slow = async <T>(call: () => Promise<T>): Promise<T> => {
      await sleep(clock, 10);
      return call();
    };
    const noted = noting(client, calls);
    const create: Client['create'] = (...call) => slow(() => noted.create(...call));
    const patch: Client['patch'] = (...call) => slow(() => noted.patch(...call));
    const ledger = (await start({ ...noted, create, patch })).of('shared');
    const submit = async (key: string): Promise<void> => {
      await ledger.put(key, intent(key));
      await sleep(clock, 5);
      ledger.mark(key, created(1, { namespace: 'team', name: key }, 'u', clock.now()));
      await sleep(clock, 10_000);
      ledger.mark(key, ended({ uid: 'u' }, DONE, clock.now()));
    };
    for (let time = 0; time < times; time++) {
      for (let index = 0; index < atOnce; index++) void submit(`job-${time}-${index}`);
      await clock.advance(everyMs);
    }
    await clock.advance(20_000);
    expect(calls.length / (times * atOnce)).toBeLessThan(callsMax);
  });

  test('says that nothing was written while it cannot be, and writes it when it can', async () => {
    let isCut = true;
    const ledger = await start(noting(cluster.client, [], () => isCut && stops.length > 0));
    isCut = false;
    await clock.advance(20_000);
    isCut = true;
    const put = settled(ledger.of('shared').put('k', intent()));
    expect(await put).toMatchObject({ status: 'rejected', reason: { message: 'write the ledger of submissions' } });
    isCut = false;
    await clock.advance(20_000);
    expect(await settled(ledger.of('shared').written('k'))).toMatchObject({ status: 'fulfilled' });
    expect(await chunks()).toHaveLength(1);
  });

  test('begins another chunk where the server says that this one is too large', async () => {
    let refuse = false;
    const patch: Client['patch'] = async (...call) => {
      if (refuse) throw new ApiError(413, { message: 'Request entity too large: limit is 3145728', reason: 'RequestEntityTooLarge' });
      return cluster.client.patch(...call);
    };
    const ledger = (await start({ ...noting(cluster.client, []), patch })).of('shared');
    await settled(ledger.put('a', intent()));
    refuse = true;
    expect(await settled(ledger.put('b', intent()))).toMatchObject({ status: 'fulfilled' });
    expect(await chunks()).toHaveLength(2);
  });

  test('writes anew what somebody deletes', async () => {
    const ledger = (await start()).of('shared');
    await settled(ledger.put('a', intent()));
    await cluster.client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: 'switchyard-ledger-shared-0' });
    await settled(ledger.put('b', intent()));
    expect((await chunks()).flatMap(({ data }) => Object.keys(data ?? {}))).toHaveLength(2);
  });

  test('forgets after seven days, but not a Job that still runs, and keeps to its size', async () => {
    const limits: LedgerLimits = { ...LEDGER_LIMITS, chunkEntries: 5, entries: 20 };
    const running = new Set(['job-3']);
    const world = await start(cluster.client, { limits, runs: ({ job }) => running.has(job.name) });
    const ledger = world.of('shared');
    for (let index = 0; index < 10; index++) await settled(ledger.put(`k${index}`, intent(`job-${index}`)));
    await days(6);
    expect(ledger.get('k0')).toBeDefined();
    await days(1.1);
    expect(Array.from({ length: 10 }, (_, index) => ledger.get(`k${index}`)?.job.name).filter((name) => name !== undefined)).toEqual([
      'job-3',
    ]);
    expect(await chunks()).toHaveLength(1);
    for (let index = 10; index < 50; index++) await settled(ledger.put(`k${index}`, intent(`job-${index}`)));
    await clock.advance(200_000);
    expect((await chunks()).reduce((sum, { data }) => sum + Object.keys(data ?? {}).length, 0)).toBeLessThanOrEqual(20);
    expect(ledger.get('k49')).toBeDefined();
    expect(ledger.get('k3')).toBeDefined();
  });
});

const SUBMITTED = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};

/** A manager's way to the API server on which every write may be carried out or not, now or later, and the answer may get lost. */
function unreliable(random: Random, late: (() => Promise<unknown>)[], made: string[], faults: () => boolean) {
  let isDead = false;
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Error('the manager is dead');
    const chance = faults() ? random() : 1;
    if (chance < 0.1) throw new Error('the request was lost');
    if (chance < 0.2) {
      late.push(call);
      throw new Error('the answer was lost, and the request is still on its way');
    }
    const answer = await call();
    if (chance < 0.3 || isDead) throw new Error('the answer was lost');
    return answer;
  };
  const { client } = cluster;
  const create: Client['create'] = (resource, object, options) =>
    write(async () => {
      const answer = await client.create(resource, object, options);
      if (resource.plural === JOBS.plural) made.push(answer.metadata.name ?? '');
      return answer;
    });
  const patch: Client['patch'] = (...call) => write(() => client.patch(...call));
  return { client: { ...noting(client, [], () => isDead), create, patch }, kill: () => (isDead = true) };
}

describe('in any order of crashes, lost and late answers, deletions and deliveries', () => {
  const runs = Number(process.env['SWITCHYARD_LEDGER_RUNS'] ?? 60);
  test.each(Array.from({ length: runs }, (_, index) => index + 1))('a key has one Job (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const tenant = testTenant({ id: `tenant-${seed}`, namespace: 'team' });
    const made: string[] = [];
    const late: (() => Promise<unknown>)[] = [];
    let hasFaults = true;
    const boot = async () => {
      const way = unreliable(random, late, made, () => hasFaults);
      const ledger = await start(way.client);
      let accept: ((submission: Submission) => Promise<Acceptance>) | undefined;
      const queue: SubmissionQueue = {
        consume: async (handler) => void (accept = handler),
        finish: async () => undefined,
        parked: async function* () {},
        report: async () => undefined,
        close: async () => undefined,
      };
      const metrics = createManagerMetrics(new Registry()).submission;
      const deps = {
        kind: JOB_KIND,
        client: way.client,
        home: way.client,
        jobs: { get: () => undefined },
        ledger,
        withdrawnJobs: { withdraw: () => undefined },
        keys: TEST_RECORD_KEYS,
        clock,
        log: silentLogger,
        metrics,
      };
      await runConsumer(deps, tenant, queue, new AbortController().signal);
      return { ...way, deliver: (submission: Submission) => accept?.(submission), stop: ledger.stop };
    };
    let manager = await boot();
    const deliver = (key: string): Promise<unknown> =>
      Promise.allSettled([
        manager.deliver(
          aSubmission({
            id: key,
            submittedAt: 1 + Math.floor(random() * 3),
            name: 'sum',
            data: { manifest: { ...SUBMITTED, metadata: { labels: { 'switchyard.dev/queue-name': 'main', key: `${seed}-${key}` } } } },
          }),
        ),
      ]);
    const deleted = new Set<string>();
    for (let step = 0; step < 40; step++) {
      const chance = random();
      const key = `key-${Math.floor(random() * 3)}`;
      if (chance < 0.55) void deliver(key);
      else if (chance < 0.65) await Promise.allSettled([late.shift()?.()]);
      else if (chance < 0.75) {
        manager.kill();
        await manager.stop();
        manager = await boot();
        await clock.advance(20_000);
      } else if (chance < 0.8) {
        // Somebody deletes the Job. Its finalizer goes once it is noted that it was made.
        hasFaults = false;
        await Promise.allSettled(late.splice(0).map((call) => call()));
        await Promise.all([deliver(key), clock.advance(20_000)]);
        const [job] = (await cluster.client.list(JOBS, { namespace: 'team', labelSelector: `key=${seed}-${key}` })).items;
        const name = { namespace: 'team', name: job?.metadata.name ?? '' };
        if (job !== undefined) {
          await cluster.client.delete(JOBS, name, { propagationPolicy: 'Background' });
          await cluster.client.patch(JOBS, name, { type: 'merge', body: { metadata: { finalizers: [] } } });
        }
        deleted.add(key);
        hasFaults = true;
      }
      await clock.advance(random() * 500);
    }
    hasFaults = false;
    await Promise.allSettled(late.splice(0).map((call) => call()));
    const last = Promise.all(['key-0', 'key-1', 'key-2'].map(deliver));
    await clock.advance(30_000);
    const answers = (await last) as PromiseSettledResult<Acceptance>[][];
    expect(made.toSorted(), `seed ${seed}`).toEqual([...new Set(made)].toSorted());
    expect(made).toHaveLength(3);
    for (const [index, [answer]] of answers.entries()) {
      const isDeleted = deleted.has(`key-${index}`);
      expect(answer).toMatchObject({
        status: 'fulfilled',
        value: isDeleted ? { outcome: { failure: { reason: 'JobDeleted' } } } : { outcome: undefined },
      });
    }
  });
});
