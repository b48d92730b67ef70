/**
 * The whole of admission, with caches that are filled by hand and an API server that takes everything: what an administrator changes
 * reaches it as in a manager.
 */
import { Registry } from 'prom-client';
import { createAdmission } from '../../manager/admission/admission.ts';
import type { LineSink } from '../../manager/admission/decision-log/decision-recorder.ts';
import type { FairSharingConfig } from '../../manager/admission/fair-sharing/fair-strategy.ts';
import { CLUSTER_QUEUES, type ClusterQueue } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { compactJob } from '../../manager/work-kind/job/compact-job.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { createLostClusters } from '../../manager/api/lost-clusters.ts';
import { PRIORITY_CLASSES } from '../../manager/api/priority-class.ts';
import { createRecordKeeper } from '../../manager/api/record-keeper.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import type { AdmissionMetrics } from '../../manager/admission/controllers/admission-metrics.ts';
import type { DeepReadonly, Job, KubeObject, ObjectKey } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { Patch, StatusClient, WriteClient } from '../../shared/kube/client.ts';
import { createObjectCache } from '../../shared/kube/indexer.ts';
import type { EventHandler, Informer } from '../../shared/kube/informer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { TEST_RECORD_KEYS } from '../support/jobs.ts';
import { meta } from './admission-core.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const NAMESPACE = 'team';

export type AdmissionWhole = ReturnType<typeof createAdmissionWhole>;

export function createAdmissionWhole(
  fairSharing: FairSharingConfig | undefined,
  decisionLog?: LineSink,
  metrics: AdmissionMetrics = createManagerMetrics(new Registry()).admission,
) {
  const informers = {
    jobs: keptInformer(JOBS),
    namespaces: keptInformer(NAMESPACES),
    workerClusters: keptInformer(WORKER_CLUSTERS),
    resourceFlavors: keptInformer(RESOURCE_FLAVORS),
    clusterQueues: keptInformer(CLUSTER_QUEUES),
    localQueues: keptInformer(LOCAL_QUEUES),
    cohorts: keptInformer(COHORTS),
    workloadPriorityClasses: keptInformer(WORKLOAD_PRIORITY_CLASSES),
    priorityClasses: keptInformer(PRIORITY_CLASSES),
  };
  const running = new Set<string>();
  const admission = createAdmission({
    kind: JOB_KIND,
    client: takingClient(informers, ({ name }) => running.add(name)),
    events: { event: () => undefined, flush: () => Promise.resolve() },
    storyEvents: { event: () => undefined, flush: () => Promise.resolve() },
    informers,
    records: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND),
    lostClusters: createLostClusters(systemClock),
    workerLostTimeoutMs: 0,
    fairSharing,
    decisionLog,
    clock: systemClock,
    log: silentLogger,
    metrics,
  });
  informers.namespaces.put({ metadata: meta(NAMESPACE) });
  informers.resourceFlavors.put({ metadata: meta('default'), spec: {} });
  const abort = new AbortController();
  let done: Promise<void> | undefined;

  return {
    informers,
    admission,
    /** How many have been admitted, and have not ended. */
    running: (): number => running.size,
    /** So many of those end, the first first. */
    end: (count: number): void => {
      for (const name of [...running].slice(0, count)) {
        running.delete(name);
        const job = informers.jobs.get({ namespace: NAMESPACE, name });
        if (job === undefined) throw new Error(`${name} is not there`);
        const complete = { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
        informers.jobs.put({ ...structuredClone(job as Job), status: { conditions: [complete] } });
      }
    },
    queue: (queue: ClusterQueue): void => {
      informers.clusterQueues.put(queue);
      informers.localQueues.put({
        metadata: { ...meta(queue.metadata.name), namespace: NAMESPACE },
        spec: { clusterQueue: queue.metadata.name },
      });
    },
    cluster: (name: string, cpu: number): void => {
      const condition = {
        type: 'Ready',
        status: 'True',
        reason: 'Ready',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      } as const;
      const cluster = { metadata: meta(name), spec: { capacity: { cpu: `${cpu}` } }, status: { conditions: [condition] } };
      informers.workerClusters.put(cluster as WorkerCluster);
    },
    job: (queue: string, name: string, cpu: string): void => informers.jobs.put(compactJob(aJob(queue, name, cpu))),
    /** It decides from now on. */
    start: (): void => {
      done = admission.run(abort.signal);
    },
    stop: async (): Promise<void> => {
      abort.abort();
      await done;
    },
  };
}

const aJob = (queue: string, name: string, cpu: string): Job => ({
  metadata: { ...meta(name), namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: queue } },
  spec: {
    parallelism: 1,
    completions: 1,
    suspend: true,
    managedBy: MANAGER_CONTROLLER_NAME,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }] } },
  },
});

type KeptInformer<T extends KubeObject> = Informer<T> & { put(object: T): void };

/** An informer that is told instead of watching. */
function keptInformer<T extends KubeObject>(resource: Resource<T>): KeptInformer<T> {
  const cache = createObjectCache<T>();
  const handlers: EventHandler<T>[] = [];
  return {
    resource,
    get: cache.get,
    list: cache.list,
    byIndex: cache.byIndex,
    addHandler: (handler) => void handlers.push(handler),
    run: () => Promise.resolve(),
    hasSynced: () => true,
    waitForSync: () => Promise.resolve(),
    lastResourceVersion: () => '1',
    catchUp: () => Promise.resolve(),
    willCatchUp: () => undefined,
    lastHeardMs: () => 0,
    put: (object) => {
      const next = object as DeepReadonly<T>;
      const previous = cache.byKey(keyOfObject(next));
      cache.set(next);
      for (const handler of handlers) {
        if (previous === undefined) handler.added?.(next, false);
        else handler.updated?.(next, previous);
      }
    },
  };
}

/** Stores what is written at once, and tells of it as a watch would. */
function takingClient(informers: Readonly<Record<string, unknown>>, released: (key: ObjectKey) => void): WriteClient & StatusClient {
  const byPlural = new Map(Object.values(informers).map((each) => [(each as KeptInformer<KubeObject>).resource.plural, each]));
  let version = 1;
  const take = async <T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch): Promise<T> => {
    await new Promise(setImmediate);
    const informer = byPlural.get(resource.plural) as KeptInformer<T>;
    const before = informer.get(key);
    if (before === undefined) throw new Error(`${resource.plural} ${key.name} is not there`);
    const merged = merge(before, patch.body) as T;
    const next = { ...merged, metadata: { ...merged.metadata, resourceVersion: `${++version}` } };
    if (JSON.stringify(patch.body).includes('"suspend":false')) released(key);
    informer.put(next);
    return next;
  };
  const never = (): never => {
    throw new Error('nobody asks for this here');
  };
  return {
    patch: take,
    patchStatus: take,
    create: never,
    update: never,
    delete: never,
    deleteCollection: never,
    updateStatus: never,
  } as unknown as WriteClient & StatusClient;
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
