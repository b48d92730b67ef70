import { beforeEach, describe, expect, test } from 'vitest';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { createClusterRemoval, type ClusterRemoval } from '../../../../../manager/dispatch/cluster/cluster-removal.ts';
import { WORKER_CLUSTER_FINALIZER } from '../../../../../shared/api/names.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const THEIRS = 'example.com/theirs';
const aCluster = (metadata: Partial<WorkerCluster['metadata']> = {}): WorkerCluster =>
  ({
    metadata: { name: 'eu', uid: 'uid-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: {},
  }) as WorkerCluster;
const deletionTimestamp = '2026-01-01T00:00:00Z';
const KEPT = { finalizers: [THEIRS, WORKER_CLUSTER_FINALIZER] };
const NOTHING = { jobs: [], copies: 0 };
const { signal } = new AbortController();

let clock: FakeClock;
let removal: ClusterRemoval;
let cached: WorkerCluster | undefined;
let sent: unknown[];
/** What the API server says to each write, the next first; nothing: it carries it out. */
let answers: (Error | undefined)[];
beforeEach(() => {
  [clock, cached, sent, answers] = [new FakeClock(), undefined, [], []];
  const home = {
    patch: async (_resource: unknown, key: unknown, { body }: { readonly body: { readonly metadata: object } }) => {
      sent.push({ key, ...body.metadata });
      const answer = answers.shift();
      if (answer !== undefined) throw answer;
    },
  } as never;
  removal = createClusterRemoval({ home, cached: () => cached, clock, log: silentLogger });
});
const conflict = () => new ApiError(409, { reason: 'Conflict' });
const key = { namespace: '', name: 'eu' };

describe('a WorkerCluster that is about to be used', () => {
  test('gets the finalizer beside those of others, once', async () => {
    await removal.retain(aCluster({ finalizers: [THEIRS] }), signal);
    await removal.retain(aCluster({ finalizers: [THEIRS] }), signal);
    expect(sent).toEqual([{ key, uid: 'uid-1', resourceVersion: '1', finalizers: [THEIRS, WORKER_CLUSTER_FINALIZER] }]);
  });

  test('gets it again when it is another one of that name, or was forgotten', async () => {
    await removal.retain(aCluster(), signal);
    await removal.retain(aCluster({ uid: 'uid-2' }), signal);
    expect(sent).toHaveLength(2);
    removal.forget('eu');
    await removal.retain(aCluster({ uid: 'uid-2' }), signal);
    expect(sent).toHaveLength(3);
  });

  test.each([
    ['has it', KEPT],
    ['is being deleted, and may get none', { deletionTimestamp }],
  ])('is left alone where it %s', async (_when, metadata) => {
    await removal.retain(aCluster(metadata), signal);
    expect(sent).toEqual([]);
  });

  test('gets it on the newer version that the cache shows after a conflict', async () => {
    answers = [conflict()];
    cached = aCluster({ resourceVersion: '2' });
    const retained = removal.retain(aCluster(), signal);
    await clock.advance(49);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    await retained;
    expect(sent).toMatchObject([{ resourceVersion: '1' }, { resourceVersion: '2' }]);
  });

  test('has it when another manager has written it meanwhile', async () => {
    answers = [conflict()];
    cached = aCluster({ resourceVersion: '2', ...KEPT });
    const retained = removal.retain(aCluster(), signal);
    await clock.advance(50);
    await retained;
    expect(sent).toHaveLength(1);
  });

  test.each<[string, () => void]>([
    ['another one has its name by then', () => (cached = aCluster({ uid: 'uid-2' }))],
    ['it is gone by then', () => (cached = undefined)],
  ])('is not retained where %s', async (_when, change) => {
    answers = [conflict()];
    change();
    const retained = expect(removal.retain(aCluster(), signal)).rejects.toThrow(ApiError);
    await clock.advance(50);
    await retained;
    expect(sent).toHaveLength(1);
  });

  test('is tried ten times at most, and not retained', async () => {
    answers = Array.from({ length: 10 }, conflict);
    cached = aCluster();
    const retained = expect(removal.retain(aCluster(), signal)).rejects.toThrow(ApiError);
    await clock.advance(1_000);
    await retained;
    expect(sent).toHaveLength(10);
    await removal.retain(aCluster(), signal);
    expect(sent).toHaveLength(11);
  });

  test('is not retained after another error', async () => {
    answers = [new ApiError(403, { reason: 'Forbidden' })];
    await expect(removal.retain(aCluster(), signal)).rejects.toThrow(ApiError);
    expect(sent).toHaveLength(1);
  });
});

describe('a WorkerCluster that is being deleted', () => {
  const leaving = aCluster({ deletionTimestamp, ...KEPT });

  test('stays while Jobs are on it, and is known to be leaving', async () => {
    const judgement = await removal.advance(leaving, () => ({ jobs: ['team/sum'], copies: 1 }), signal);
    expect(judgement).toMatchObject({ kind: 'Stays', reason: 'JobsRemain' });
    expect([[...removal.inFlight()], removal.isUnderWay('eu'), removal.isUnderWay('us')]).toEqual([['eu'], true, false]);
    expect(sent).toEqual([]);
    removal.forget('eu');
    expect(removal.isUnderWay('eu')).toBe(false);
  });

  test('goes when nothing is left, with the finalizers of others still on it', async () => {
    expect(await removal.advance(leaving, () => NOTHING, signal)).toEqual({ kind: 'Goes' });
    expect(sent).toEqual([{ key, uid: 'uid-1', resourceVersion: '1', finalizers: [THEIRS] }]);
  });

  test('may be gone already; after another error it is tried again', async () => {
    answers = [new ApiError(404, { reason: 'NotFound' }), conflict()];
    expect(await removal.advance(leaving, () => NOTHING, signal)).toEqual({ kind: 'Goes' });
    await expect(removal.advance(leaving, () => NOTHING, signal)).rejects.toThrow('let WorkerCluster eu go');
  });

  test.each([
    ['is not being deleted any more, as another one of its name', KEPT],
    ['has no finalizer of ours', { deletionTimestamp, finalizers: [THEIRS] }],
  ])('is none that %s', async (_which, metadata) => {
    await removal.advance(leaving, () => ({ jobs: ['team/sum'], copies: 1 }), signal);
    const unasked = (): never => {
      throw new Error('nobody asks what remains');
    };
    expect(await removal.advance(aCluster(metadata), unasked, signal)).toBeUndefined();
    expect([removal.isUnderWay('eu'), sent]).toEqual([false, []]);
  });
});
