import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { createHomeWriter, type HomeWriter } from '../../../../../manager/dispatch/controller/home-writer.ts';
import { createStatusLag } from '../../../../../manager/dispatch/controller/status-lag.ts';
import type { HomeAction } from '../../../../../manager/dispatch/decisions/mirror-plan.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { COPIES_FINALIZER, SUBMISSION_FINALIZER } from '../../../../../shared/api/names.ts';
import type { JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aCondition, anAdmittedJob, recordOn } from '../../../../support/jobs.ts';

const KEY = 'team/sum';
const JOB = anAdmittedJob({ metadata: { finalizers: [COPIES_FINALIZER, SUBMISSION_FINALIZER] } });
const ANSWER = { ...JOB, metadata: { ...JOB.metadata, resourceVersion: '11' } };
const { uid, resourceVersion } = JOB.metadata;

let clock: FakeClock;
let registry: Registry;
let writer: HomeWriter;
/** What was sent, by the call. */
let sent: [call: string, body: unknown][];
let wrote: unknown[];
let isNoted: boolean;
/** What the API server does before it answers. */
let server: () => Promise<void>;
beforeEach(() => {
  [clock, registry, sent, wrote, isNoted, server] = [new FakeClock(), new Registry(), [], [], false, async () => undefined];
  const { dispatch: metrics } = createManagerMetrics(registry);
  const answered =
    (call: string) =>
    async (_resource: unknown, _key: unknown, { body }: { readonly body: unknown }) => {
      sent.push([call, body]);
      await server();
      return ANSWER;
    };
  const home = { patch: answered('patch'), patchStatus: answered('patchStatus') } as never;
  const lag = createStatusLag({ metrics, clock });
  writer = createHomeWriter({
    kind: JOB_KIND,
    home,
    clock,
    log: silentLogger,
    metrics,
    lag,
    readRecord: (job) => recordOn(job as typeof JOB),
    isNoted: () => isNoted,
    wrote: (key, job) => wrote.push([key, job]),
  });
  lag.heard(KEY, 'eu-1');
  lag.observed(KEY);
});

const status: JobStatus = { active: 1 };
const writes = (parts: Partial<Extract<HomeAction, { kind: 'WriteStatus' }>> = {}): HomeAction => ({
  kind: 'WriteStatus',
  status,
  patch: { active: 1 },
  urgent: false,
  ...parts,
});
const refusal = (code: number, reason: string) => async (): Promise<void> => {
  throw new ApiError(code, { reason, message: reason });
};
const figures = async (): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => /^switchyard_(status_writes_total|status_lag_seconds_count)\{/.test(line));

describe('the status of a Job', () => {
  test('that has ended goes home at once, on the version that it was decided for, and is counted', async () => {
    expect(await writer.write(KEY, JOB, writes({ urgent: true, annotations: { a: 'b' } }))).toBeUndefined();
    expect(sent).toEqual([['patchStatus', { metadata: { uid, resourceVersion, annotations: { a: 'b' } }, status: { active: 1 } }]]);
    expect(wrote).toEqual([[KEY, ANSWER]]);
    expect(await figures()).toEqual([
      'switchyard_status_writes_total{cluster="eu-1",terminal="true"} 1',
      'switchyard_status_lag_seconds_count{cluster="eu-1"} 1',
    ]);
  });

  test('that runs waits for further changes, and goes home with all of them 200 ms after the first', async () => {
    expect(await writer.write(KEY, JOB, writes())).toBe(200);
    await clock.advance(150);
    expect(await writer.write(KEY, JOB, writes())).toBe(50);
    await clock.advance(49);
    expect(await writer.write(KEY, JOB, writes())).toBe(1);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(await writer.write(KEY, JOB, writes())).toBeUndefined();
    expect(sent).toHaveLength(1);
    expect(await figures()).toContain('switchyard_status_writes_total{cluster="eu-1",terminal="false"} 1');
    // The next change waits anew.
    expect(await writer.write(KEY, JOB, writes())).toBe(200);
  });

  test('that does not differ any more is not written, and what waited is forgotten', async () => {
    expect(await writer.write(KEY, JOB, writes())).toBe(200);
    await clock.advance(150);
    expect(await writer.write(KEY, JOB, { kind: 'None' })).toBeUndefined();
    expect(await writer.write(KEY, JOB, writes())).toBe(200);
    await clock.advance(150);
    expect(await writer.write(KEY, undefined, writes({ urgent: true }))).toBeUndefined();
    expect(await writer.write(KEY, JOB, writes())).toBe(200);
    expect(sent).toEqual([]);
  });

  test('waits longer where the API server takes long to answer', async () => {
    server = () => clock.advance(100);
    await writer.write(KEY, JOB, writes({ urgent: true }));
    expect(await writer.write(KEY, JOB, writes())).toBe(1_600);
  });

  test('takes finalizers along, and that of the intake once it has noted the end', async () => {
    const finalizers = [SUBMISSION_FINALIZER, 'example.com/theirs'];
    await writer.write(KEY, JOB, writes({ urgent: true, finalizers }));
    isNoted = true;
    await writer.write(KEY, JOB, writes({ urgent: true, finalizers }));
    expect(sent.map(([, body]) => (body as { metadata: object }).metadata)).toEqual([
      { uid, resourceVersion, finalizers },
      { uid, resourceVersion, finalizers: ['example.com/theirs'] },
    ]);
  });

  test('of a Job that is gone is no trouble, of one that has changed is decided again, and anything else is an error', async () => {
    server = refusal(404, 'NotFound');
    expect(await writer.write(KEY, JOB, writes({ urgent: true }))).toBeUndefined();
    server = refusal(409, 'Conflict');
    expect(await writer.write(KEY, JOB, writes({ urgent: true }))).toBe(200);
    server = refusal(422, 'Invalid');
    await expect(writer.write(KEY, JOB, writes({ urgent: true }))).rejects.toThrow('write the status of Job team/sum');
    expect([wrote, await figures()]).toEqual([[], []]);
  });
});

describe('a Job of which nothing is left', () => {
  const release = (patch?: Record<string, unknown>): HomeAction => ({
    kind: 'Release',
    finalizers: [SUBMISSION_FINALIZER],
    ...(patch && { patch }),
  });

  test('loses the finalizer of dispatch, and with it that of the intake once it has noted the end', async () => {
    expect(await writer.write(KEY, JOB, release())).toBeUndefined();
    isNoted = true;
    await writer.write(KEY, JOB, release());
    expect(sent).toEqual([
      ['patch', { metadata: { uid, resourceVersion, finalizers: [SUBMISSION_FINALIZER] } }],
      ['patch', { metadata: { uid, resourceVersion, finalizers: [] } }],
    ]);
    expect(wrote).toEqual([
      [KEY, ANSWER],
      [KEY, ANSWER],
    ]);
  });

  test('and that others keep says in the same write that no pod of it runs', async () => {
    await writer.write(KEY, JOB, release({ active: 0, conditions: [aCondition('Suspended')] }));
    expect(sent).toMatchObject([['patchStatus', { metadata: { uid }, status: { active: 0 } }]]);
  });

  test('may be gone already, may have changed, and is tried again after an error', async () => {
    server = refusal(404, 'NotFound');
    expect(await writer.write(KEY, JOB, release())).toBeUndefined();
    server = refusal(409, 'Conflict');
    expect(await writer.write(KEY, JOB, release())).toBe(200);
    server = refusal(500, 'InternalError');
    await expect(writer.write(KEY, JOB, release())).rejects.toThrow('take the finalizer off Job team/sum');
    expect(wrote).toEqual([]);
  });
});
