/** What a write to a worker cluster leaves open, by how it came to nothing. */
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { createCopyActions } from '../../../../../manager/dispatch/controller/copy-actions.ts';
import { createRecordKeeper } from '../../../../../manager/api/record-keeper.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import { LeaseNotHeld } from '../../../../../manager/dispatch/cluster/lease-not-held.ts';
import type { RemoteCluster } from '../../../../../manager/dispatch/connection/remote-cluster-contract.ts';
import type { MirrorGroup } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { createUnansweredWrites, LATE_WRITE_MS, type UnansweredWrites } from '../../../../../manager/dispatch/mirror/unanswered-writes.ts';
import { createWriteTroubles } from '../../../../../manager/dispatch/writes/write-troubles.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { keyOfObject } from '../../../../../shared/kube/keys.ts';
import { createObjectCache } from '../../../../../shared/kube/indexer.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { toWireTime } from '../../../../../shared/api/wire-time.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { anAdmittedJob, recordOn, TEST_RECORD_KEYS } from '../../../../support/jobs.ts';
import { CLUSTER } from '../decisions/mirror-situation.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

let clock: FakeClock;
let unanswered: UnansweredWrites;
beforeEach(() => {
  clock = new FakeClock();
  unanswered = createUnansweredWrites(clock, 0);
});

/** Has the copy of a Job made that was admitted after the manager began to lead, on a cluster that answers as `create` does. */
async function make(create: () => Promise<Job>): Promise<{ readonly key: string; readonly sinceMs: number; readonly error: unknown }> {
  await clock.advance(60_000);
  const sinceMs = clock.now();
  const local = anAdmittedJob({}, { cluster: 'eu-1', since: toWireTime(sinceMs) });
  const key = keyOfObject(local);
  const jobs = createObjectCache<Job>();
  jobs.set(local);
  const cluster = {
    name: 'eu-1',
    unanswered,
    troubles: createWriteTroubles(),
    writer: { create },
    view: () => CLUSTER,
    createFailed: () => undefined,
    setProblem: () => undefined,
  } as unknown as RemoteCluster;
  const never = (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));
  const actions = createCopyActions({
    kind: JOB_KIND,
    home: { get: never, list: never, create: never, replace: never, replaceStatus: never, patch: never, patchStatus: never, delete: never },
    jobs: jobs as unknown as Parameters<typeof createCopyActions>[0]['jobs'],
    readRecord: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND).read,
    origin: 'm1',
    clock,
    log: silentLogger,
    events: { event: () => undefined, flush: async () => undefined },
    metrics: createManagerMetrics(new Registry()).dispatch,
    wrote: () => undefined,
    wake: () => undefined,
  });
  const group: MirrorGroup = {
    kind: JOB_KIND,
    local,
    record: recordOn(local),
    unresolved: undefined,
    copies: [],
    place: { kind: 'Known', cluster: 'eu-1' },
    clusters: new Map([['eu-1', CLUSTER]]),
    flavors: new Map(),
    origin: 'm1',
    podFenceImage: 'fence:1',
  };
  const job = remoteJob(local, { origin: 'm1', epoch: 1, jobController: 'switchyard.dev/worker', local: false, flavors: [] });
  const error = await actions.carryOut(cluster, key, group, { kind: 'Create', cluster: 'eu-1', job }).catch((thrown: unknown) => thrown);
  return { key, sinceMs, error };
}
const failure = (code: string): Error => new Error('fetch failed', { cause: Object.assign(new Error(code), { code }) });

describe('a create that failed', () => {
  test.each([
    ['because nothing listened there', failure('ECONNREFUSED')],
    ['because the name of the server does not resolve', failure('ENOTFOUND')],
    ['because the Lease was not held', new LeaseNotHeld()],
  ])('%s was never sent: nothing is waited for, and nothing of the Job can be there', async (_, error) => {
    const made = await make(() => Promise.reject(error));
    expect(made.error).toBeInstanceOf(Error);
    expect(unanswered.of(made.key, made.sinceMs)).toEqual({ kind: 'None' });
    expect([unanswered.has(made.key), unanswered.absence(made.key, made.sinceMs)]).toEqual([false, undefined]);
  });

  test('when the connection broke may be carried out for a while yet, and then has to be looked for', async () => {
    const made = await make(() => Promise.reject(failure('ECONNRESET')));
    expect(unanswered.of(made.key, made.sinceMs)).toEqual({ kind: 'Waiting', forMs: LATE_WRITE_MS });
    expect(unanswered.absence(made.key, made.sinceMs)).toBe('Open');
    await clock.advance(LATE_WRITE_MS);
    expect(unanswered.of(made.key, made.sinceMs)).toEqual({ kind: 'Look' });
  });
});
