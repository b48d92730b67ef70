/** What a worker does with copies of a described kind whose manager is out of reach. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { FencedKind, WorkOfKind } from '../../../../shared/api/fenced-kinds.ts';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { FENCED_ANNOTATION, FENCING_ANNOTATION, ORIGIN_LABEL, RESUMED_FROM_ANNOTATION } from '../../../../shared/api/names.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { createWorkqueue, type Workqueue } from '../../../../shared/kube/workqueue.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import type { FenceState } from '../../../../worker/fence/origin-fence.ts';
import { createPodTrimmer, podIndexers } from '../../../../worker/job/pod-cache.ts';
import { childJobIndexers, copyPodIndexers } from '../../../../worker/kinds/copy-pods.ts';
import { createKindFence, type KindFence } from '../../../../worker/kinds/kind-fence.ts';
import type { CopyHandler, WatchedCopy } from '../../../../worker/kinds/watched-kinds.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KIND: FencedKind = {
  resource: { group: 'example.com', version: 'v1', plural: 'crews', kind: 'Crew', namespaced: true },
  suspend: ['spec', 'policy', 'suspend'],
  suspendedCondition: 'Parked',
};
const KEY = 'crews/team/argo';
const NOW = '2026-01-01T00:00:00Z';
const common = { namespace: 'team', resourceVersion: '1', creationTimestamp: NOW };

let clock: FakeClock;
let queue: Workqueue;
let fence: KindFence;
let handler: CopyHandler;
let state: FenceState;
let pods: ReturnType<typeof createObjectCache<Pod>>;
/** The copy in the cache, and at the server. */
let cached: WorkOfKind | undefined;
let stored: WorkOfKind | undefined;
let writes: unknown[];
let events: string[];
/** What the server says to writes; nothing: it carries them out. */
let refusal: Error | undefined;
beforeEach(() => {
  [clock, state, cached, stored, writes, events, refusal] = [new FakeClock(), 'Fenced', undefined, undefined, [], [], undefined];
  queue = createWorkqueue({ name: 'kinds', clock, rateLimit: { baseDelayMs: 1_000, maxDelayMs: 1_000 } });
  pods = createObjectCache<Pod>({ ...podIndexers, ...copyPodIndexers });
  const watched = (): WatchedCopy[] => (cached === undefined ? [] : [{ key: KEY, kind: KIND, copy: cached }]);
  const write = (what: string, body?: unknown): void => {
    writes.push(body === undefined ? what : [what, body]);
    if (refusal !== undefined) throw refusal;
  };
  const client = {
    async get() {
      if (stored === undefined) throw notFound();
      return stored;
    },
    patch: async (_of: unknown, { name }: { readonly name: string }, { body }: { readonly body: unknown }) => write(`patch ${name}`, body),
    delete: async (_of: unknown, { name }: { readonly name: string }, { uid }: { readonly uid: string }) => write(`delete ${name} ${uid}`),
  };
  fence = createKindFence({
    client: client as never,
    kinds: {
      addHandler: (added: CopyHandler) => (handler = added),
      get: (key: string) => watched().find((each) => each.key === key),
      ofOrigin: (origin: string | undefined) =>
        watched().filter(({ copy }) => origin === undefined || copy.metadata.labels?.[ORIGIN_LABEL] === origin),
      ofOriginal: (uid: string) => watched().filter(({ copy }) => copy.metadata.annotations?.['switchyard.dev/origin-uid'] === uid),
    } as never,
    pods,
    jobs: createObjectCache<Job>(childJobIndexers),
    queue,
    recorder: {
      event: (_of, _copy, type, reason, message) => void events.push(`${type} ${reason}: ${message.split(' ').slice(0, 3).join(' ')}`),
    },
    stateOf: (origin) => (origin === 'home' ? state : 'Open'),
    clock,
    log: silentLogger,
  });
});
const notFound = () => new ApiError(404, { reason: 'NotFound' });
const conflict = () => new ApiError(409, { reason: 'Conflict' });

type Parts = {
  readonly suspend?: boolean;
  readonly annotations?: Record<string, string>;
  readonly deleting?: boolean;
  readonly uid?: string;
};
const aCopy = ({ suspend = false, annotations = {}, deleting = false, uid = 'uid-copy' }: Parts = {}): WorkOfKind => ({
  metadata: {
    ...common,
    name: 'argo',
    uid,
    labels: { [ORIGIN_LABEL]: 'home' },
    annotations: { 'switchyard.dev/origin-uid': 'original', ...annotations },
    ...(deleting ? { deletionTimestamp: NOW } : {}),
  },
  spec: { policy: { suspend } },
  status: { conditions: [{ type: 'Parked', status: 'True', lastTransitionTime: NOW }] },
});
const MARKED = { [FENCED_ANNOTATION]: NOW };
const env = [
  { name: 'SWITCHYARD_EPOCH', value: '1' },
  { name: 'SWITCHYARD_JOB', value: 'team/argo' },
  { name: 'SWITCHYARD_JOB_UID', value: 'original' },
  { name: 'SWITCHYARD_MANAGER', value: 'home' },
];
const aPod = (name: string, phase = 'Running', deletionTimestamp?: string): Pod =>
  createPodTrimmer()({
    metadata: {
      ...common,
      name,
      uid: `uid-${name}`,
      ...(deletionTimestamp && { deletionTimestamp }),
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid: 'uid-copy', controller: true }],
    },
    spec: { containers: [{ name: 'main', image: 'busybox', env }] },
    status: { phase },
  } as never);
const look = () => fence.controller.reconcile(KEY);
const queued = async (): Promise<boolean> => {
  await clock.advance(0);
  return queue.length() > 0;
};

describe('while the manager is out of reach', () => {
  test('a copy that runs is suspended on the version that was seen, and marked as suspended by the worker', async () => {
    cached = aCopy();
    expect(await look()).toBeUndefined();
    const metadata = { uid: 'uid-copy', resourceVersion: '1', annotations: { [FENCED_ANNOTATION]: NOW } };
    expect(writes).toEqual([['patch argo', { metadata, spec: { policy: { suspend: true } } }]]);
    expect(events).toEqual(['Warning Fenced: The manager of']);
  });

  test('its pods have ten seconds to stop; those that are left are deleted by their UIDs, and those that stop already are not', async () => {
    cached = aCopy({ suspend: true, annotations: MARKED });
    for (const pod of [aPod('a'), aPod('b'), aPod('ended', 'Succeeded'), aPod('stops', 'Running', NOW)]) pods.set(pod);
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    await clock.advance(9_999);
    expect(await look()).toEqual({ requeueAfterMs: 1 });
    expect(writes).toEqual([]);
    await clock.advance(1);
    expect(await look()).toBeUndefined();
    expect(writes).toEqual(['delete a uid-a', 'delete b uid-b']);
    expect(events).toEqual(['Warning FencedPodsDeleted: Deleted 2 pods']);
  });

  test('where the server refuses the suspension, pods are deleted once its time is over', async () => {
    cached = aCopy();
    pods.set(aPod('a'));
    refusal = new ApiError(422, { reason: 'Invalid', message: 'no' });
    await expect(look()).rejects.toThrow('no');
    expect(writes).toHaveLength(1);
    await clock.advance(10_000);
    await expect(look()).rejects.toThrow('no');
    expect(writes.map((each) => (Array.isArray(each) ? each[0] : each) as unknown)).toEqual(['patch argo', 'patch argo', 'delete a uid-a']);
  });

  test.each([
    ['that is gone meanwhile is no trouble', notFound, undefined],
    ['that has changed meanwhile is looked at again', conflict, 'Crew team/argo has changed meanwhile'],
  ])('a copy %s', async (_which, error, problem) => {
    cached = aCopy();
    refusal = error();
    if (problem === undefined) expect(await look()).toBeUndefined();
    else await expect(look()).rejects.toThrow(problem);
    expect(events).toEqual([]);
  });

  test.each([notFound, conflict])('a pod that has gone, or is another one, is deleted already', async (error) => {
    cached = aCopy({ suspend: true, annotations: MARKED });
    pods.set(aPod('a'));
    await look();
    await clock.advance(10_000);
    refusal = error();
    expect(await look()).toBeUndefined();
  });

  test('a copy without a fence, one of another manager, and one that is gone are left alone', async () => {
    cached = aCopy({ annotations: { [FENCING_ANNOTATION]: 'off' } });
    await look();
    cached = { ...aCopy(), metadata: { ...aCopy().metadata, labels: { [ORIGIN_LABEL]: 'other' } } };
    await look();
    cached = { ...aCopy(), metadata: { ...aCopy().metadata, labels: {} } };
    await look();
    cached = undefined;
    await look();
    expect(writes).toEqual([]);
  });

  test('a change of a copy, and of a pod of it once it is stopped, is another look', async () => {
    cached = aCopy();
    fence.handler.updated?.(aPod('a'), aPod('a'));
    expect(await queued()).toBe(false);
    handler.changed?.({ key: KEY, kind: KIND, copy: cached });
    expect(await queued()).toBe(true);
    queue.done((await queue.get()) ?? '');
    await look();
    fence.handler.deleted?.(aPod('a'), false);
    expect(await queued()).toBe(true);
    queue.done((await queue.get()) ?? '');
    handler.deleted?.({ key: KEY, kind: KIND, copy: cached });
    fence.handler.deleted?.(aPod('a'), false);
    expect(await queued()).toBe(false);
    fence.onChange('other');
    expect(await queued()).toBe(false);
    fence.onChange('home');
    expect(await queued()).toBe(true);
  });
});

describe('when the manager has come back', () => {
  beforeEach(() => {
    state = 'Open';
    cached = stored = aCopy({ suspend: true, annotations: MARKED });
  });

  test('a copy that the worker has suspended goes on from what the server has, and says since when it rested', async () => {
    stored = {
      ...aCopy({ suspend: true, annotations: MARKED }),
      metadata: { ...aCopy({ annotations: MARKED }).metadata, resourceVersion: '2' },
    };
    expect(await look()).toBeUndefined();
    const annotations = { [FENCED_ANNOTATION]: null, [RESUMED_FROM_ANNOTATION]: NOW };
    const metadata = { uid: 'uid-copy', resourceVersion: '2', annotations };
    expect(writes).toEqual([['patch argo', { metadata, spec: { policy: { suspend: false } } }]]);
    expect(events).toEqual(['Normal FenceLifted: The manager of']);
  });

  test.each<[string, () => unknown]>([
    ['a pod of it runs still', () => pods.set(aPod('a'))],
    ['it is being deleted', () => (cached = aCopy({ suspend: true, annotations: MARKED, deleting: true }))],
    ['it is being deleted at the server', () => (stored = aCopy({ suspend: true, annotations: MARKED, deleting: true }))],
    ['it is gone at the server', () => (stored = undefined)],
    ['another one has its name there', () => (stored = aCopy({ suspend: true, annotations: MARKED, uid: 'uid-other' }))],
    ['the manager has suspended it itself by then', () => (stored = aCopy({ suspend: true }))],
    ['the worker has not suspended it', () => (cached = aCopy({ suspend: true }))],
    ['the worker does not know yet whether the manager is back', () => (state = 'Hold')],
  ])('a copy does not go on where %s', async (_where, change) => {
    change();
    expect(await look()).toBeUndefined();
    expect([writes, events]).toEqual([[], []]);
  });

  test('a copy without the condition of its kind says that it rested since nobody knows when', async () => {
    stored = { ...aCopy({ suspend: true, annotations: MARKED }), status: {} };
    await look();
    expect(writes).toMatchObject([['patch argo', { metadata: { annotations: { [RESUMED_FROM_ANNOTATION]: '' } } }]]);
  });

  test('in a steady state nothing is done for a copy that changes', async () => {
    handler.changed?.({ key: KEY, kind: KIND, copy: aCopy() });
    expect(await queued()).toBe(false);
    handler.changed?.({ key: KEY, kind: KIND, copy: aCopy({ annotations: MARKED }) });
    expect(await queued()).toBe(true);
  });
});

test('failures of before the fence tripped do not put off the stop', async () => {
  cached = aCopy();
  for (let failed = 0; failed < 8; failed++) queue.addRateLimited(KEY);
  expect(queue.numRequeues(KEY)).toBe(8);
  fence.onChange('home');
  expect([await queued(), queue.numRequeues(KEY)]).toEqual([true, 0]);
});
