import { describe, expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { createSetupWatcher } from '../../../../../manager/admission/controllers/setup-watcher.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { LimitRange } from '../../../../../manager/api/limit-range.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import type { DeepReadonly, KubeObject } from '../../../../../shared/api/kubernetes.ts';
import type { EventHandler } from '../../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aClusterQueue, objects } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

/** The objects of one kind, with the handlers that hear of their changes. */
class Kind<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #handlers: EventHandler<T>[] = [];

  addHandler(handler: EventHandler<T>): void {
    this.#handlers.push(handler);
  }

  list(): readonly DeepReadonly<T>[] {
    return [...this.#objects.values()] as DeepReadonly<T>[];
  }

  put(object: T): void {
    const previous = this.#objects.get(object.metadata.name);
    this.#objects.set(object.metadata.name, object);
    for (const handler of this.#handlers)
      if (previous === undefined) handler.added?.(object as DeepReadonly<T>, false);
      else handler.updated?.(object as DeepReadonly<T>, previous as DeepReadonly<T>);
  }
}

const meta = (name: string, namespace = '') => ({
  name,
  namespace,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const aWorkerCluster = (spec: object = {}, status: object = {}): WorkerCluster =>
  ({
    metadata: meta('eu'),
    spec,
    status: {
      clusterUID: 'uid-1',
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      ...status,
    },
  }) as WorkerCluster;

function situation() {
  const clock = new FakeClock();
  const workerClusters = new Kind<WorkerCluster>();
  const limitRanges = new Kind<LimitRange>();
  const clusterQueues = new Kind<ReturnType<typeof aClusterQueue>>();
  const done: string[] = [];
  const jobs = { get: ({ namespace, name }: { namespace: string; name: string }) => aHomeJob({ metadata: { namespace, name } }) };
  const cache = createAdmissionCache(buildQueueingSetup(objects({})));
  const others = {
    localQueues: new Kind<never>(),
    resourceFlavors: new Kind<never>(),
    cohorts: new Kind<never>(),
    namespaces: new Kind<never>(),
    workloadPriorityClasses: new Kind<never>(),
    priorityClasses: new Kind<never>(),
    runtimeClasses: new Kind<never>(),
  };
  const watcher = createSetupWatcher({
    kind: JOB_KIND,
    informers: { jobs, workerClusters, limitRanges, clusterQueues, ...others },
    cache,
    queues: createPendingQueues(),
    watcher: {
      requeue: () => void done.push('requeue'),
      expectAnew: () => void done.push('expect anew'),
      adjust: (jobOf) => void done.push(...['a/one', 'b/two'].filter((key) => jobOf(key) !== undefined).map((key) => `examine ${key}`)),
    },
    evictionController: {
      recheckAdmissions: (concerned) => void done.push(concerned === undefined ? 'recheck all' : 'recheck some'),
      lookForLosses: () => undefined,
    },
    recorder: undefined,
    fairSharing: undefined,
    wake: () => void done.push('wake'),
    onApplied: () => undefined,
    clock,
    log: silentLogger,
  });
  watcher.addHandlers();
  /** What is done for a change, and when it is applied. */
  const during = (change: () => void): readonly string[] => {
    done.length = 0;
    change();
    watcher.apply();
    return done.splice(0);
  };
  return { clock, watcher, cache, workerClusters, limitRanges, clusterQueues, others, done, during };
}

describe('a new leader', () => {
  test('applies all of the setup, and gives Jobs their whole time to start', () => {
    const { clock, watcher, cache, workerClusters, during } = situation();
    workerClusters.put(aWorkerCluster());
    expect(during(() => watcher.lead())).toEqual(['requeue', 'recheck all', 'requeue', 'recheck all']);
    expect(cache.clusters()[0]?.reachableSinceMs).toBe(clock.now());
  });
});

describe('a WorkerCluster', () => {
  test('whose status says the same in other words of no concern changes nothing', () => {
    const { watcher, workerClusters, during } = situation();
    workerClusters.put(aWorkerCluster());
    watcher.lead();
    expect(during(() => workerClusters.put({ ...aWorkerCluster(), metadata: { ...meta('eu'), resourceVersion: '2' } }))).toEqual([]);
  });

  test('that is another cluster by now has all admissions checked again', () => {
    const { watcher, workerClusters, during } = situation();
    workerClusters.put(aWorkerCluster());
    watcher.lead();
    expect(during(() => workerClusters.put(aWorkerCluster({}, { clusterUID: 'uid-2' })))).toContain('recheck all');
  });

  test('that serves other namespaces has pending Workloads queued again', () => {
    const { watcher, workerClusters, during } = situation();
    workerClusters.put(aWorkerCluster());
    watcher.lead();
    expect(during(() => workerClusters.put(aWorkerCluster({ servedNamespaces: ['team'] })))).toContain('requeue');
  });
});

test('a LimitRange that changes has the Jobs of its namespace examined, and no others', () => {
  const { watcher, limitRanges, during } = situation();
  watcher.lead();
  const range = { metadata: meta('defaults', 'a'), spec: { limits: [] } } as LimitRange;
  expect(during(() => limitRanges.put(range))).toEqual(['wake', 'examine a/one']);
});

test('a ClusterQueue that changes has the admissions by it checked again, and no more', () => {
  const { watcher, clusterQueues, during } = situation();
  clusterQueues.put(aClusterQueue('cq', { default: '9' }));
  watcher.lead();
  expect(during(() => clusterQueues.put(aClusterQueue('cq', { default: '8' })))).toEqual(['wake', 'recheck some']);
});

test.each([
  'localQueues',
  'resourceFlavors',
  'cohorts',
  'namespaces',
  'workloadPriorityClasses',
  'priorityClasses',
  'runtimeClasses',
] as const)('a change of one of the %s has the setup applied again, and a write that says the same has not', (kind) => {
  const { others, done } = situation();
  const put = (version: string, said: number): void => {
    const metadata = { ...meta('one', 'a'), resourceVersion: version, labels: { said } };
    others[kind].put({ metadata, spec: { said }, value: said, overhead: { said } } as never);
  };
  put('1', 1);
  put('2', 2);
  put('3', 2);
  expect(done).toEqual(['wake', 'wake']);
});
