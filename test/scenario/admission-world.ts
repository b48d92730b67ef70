/** A manager cluster with nothing but admission on it: an embedded control plane, the CRDs, the informers, and the loop. */
import { Registry } from 'prom-client';
import { createAdmission, type Admission, type AdmissionDeps } from '../../manager/admission/admission.ts';
import { createStartEstimates } from '../../manager/insight/estimate/start-estimates.ts';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { LIMIT_RANGES } from '../../manager/api/limit-range.ts';
import { RUNTIME_CLASSES } from '../../manager/api/runtime-class.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { createLostClusters } from '../../manager/api/lost-clusters.ts';
import { createRecordKeeper } from '../../manager/api/record-keeper.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../manager/api/records.ts';
import { PRIORITY_CLASSES } from '../../manager/api/priority-class.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { prepareJob, type JobManifest } from '../../manager/policy/prepare-job.ts';
import type { Job, JobCondition, KubeObject } from '../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createEventRecorder } from '../../shared/kube/event-recorder.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { withKinds } from '../support/stored-kinds.ts';
import { restingAfter, TEST_RECORD_KEYS } from '../support/jobs.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

export type AdmissionWorld = {
  readonly client: KubeClient;
  readonly clock: FakeClock;
  admission(): Admission;
  /** Lets everything happen that happens within `ms`. */
  settle(ms?: number): Promise<void>;
  queue(name: string, options?: QueueOptions): Promise<void>;
  flavor(name: string, spec?: object): Promise<void>;
  cluster(
    name: string,
    options?: { readonly labels?: Record<string, string>; readonly capacity?: Record<string, string>; readonly ready?: boolean },
  ): Promise<void>;
  job(name: string, options?: JobOptions): Promise<void>;
  getJob(name: string): Promise<Job>;
  record(name: string): Promise<AdmissionRecord | undefined>;
  /** Names of Jobs that are admitted and not finished. */
  running(): Promise<string[]>;
  finish(name: string, result?: 'Complete' | 'Failed'): Promise<void>;
  /** Says of a suspended Job what dispatch would, once its copy rests. */
  rest(name: string): Promise<void>;
  /** Deletes a Job; `gone` as dispatch would say, once nothing of it is left on its cluster. */
  remove(name: string, options?: { readonly gone: boolean }): Promise<void>;
  /** Value of a metric, summed over all series that carry these labels; undefined when there is none. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
  stop(): Promise<void>;
  /** Serves the manager cluster on a port. Returns the kubeconfig of its administrator. */
  listen(): Promise<string>;
  /** Stops admission and starts it anew, as another replica would. */
  restart(): Promise<void>;
  close(): Promise<void>;
};
export type QueueOptions = { readonly cpu?: string; readonly flavors?: readonly string[]; readonly spec?: object };
export type JobOptions = {
  readonly queue?: string;
  readonly cpu?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
};

/** What flags of the manager say. */
type Settings = Pick<AdmissionDeps, 'requeuingTimestamp' | 'fairSharing' | 'admissionFairSharing' | 'decisionLog'>;

export const NAMESPACE = 'team';

export async function createAdmissionWorld(
  options: { readonly wrap?: (client: KubeClient) => KubeClient; readonly startedMs?: number } & Settings = {},
): Promise<AdmissionWorld> {
  const clock = new FakeClock(options.startedMs);
  const random = seededRandom(1);
  const log = silentLogger;
  const controlPlane = await createControlPlane({ clock, random, log, persistence: withKinds() });
  const client = createKubeClient(controlPlane.transport(), { userAgent: 'test', clock });
  const settle = async (ms = 0): Promise<void> => {
    await clock.settle();
    await clock.advance(ms);
    await clock.settle();
  };
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => client.create(resource, object as never);
  await settle(100);
  await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });

  let running = start(options.wrap?.(client) ?? client, clock, options);
  await settle(50);

  const world: AdmissionWorld = {
    client,
    clock,
    admission: () => running.admission,
    settle,
    flavor: async (name, spec = {}) => {
      await create(RESOURCE_FLAVORS, { apiVersion: 'switchyard.dev/v1alpha1', kind: 'ResourceFlavor', metadata: { name }, spec });
    },
    queue: async (name, { cpu = '4', flavors = ['default'], spec = {} } = {}) => {
      await create(CLUSTER_QUEUES, {
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'ClusterQueue',
        metadata: { name },
        spec: {
          // Nobody plays dispatch here unless a test does, so no Job is seen to start.
          startTimeout: '0s',
          namespaceSelector: {},
          resourceGroups: [
            {
              coveredResources: ['cpu'],
              flavors: flavors.map((flavor) => ({ name: flavor, resources: [{ name: 'cpu', nominalQuota: cpu }] })),
            },
          ],
          ...spec,
        },
      });
      await create(LOCAL_QUEUES, {
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'LocalQueue',
        metadata: { name, namespace: NAMESPACE },
        spec: { clusterQueue: name },
      });
    },
    cluster: async (name, { labels = {}, capacity, ready = true } = {}) => {
      await create(WORKER_CLUSTERS, {
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'WorkerCluster',
        metadata: { name, labels },
        spec: { kubeconfigSecretRef: { namespace: 'switchyard', name }, ...omitUndefined({ capacity }) },
      });
      const condition = {
        type: 'Ready',
        status: ready ? 'True' : 'False',
        reason: ready ? 'Connected' : 'Unreachable',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      await client.patchStatus(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { status: { conditions: [condition] } } });
    },
    job: async (name, jobOptions = {}) => {
      const prepared = prepareJob(JOB_KIND, jobManifest(name, jobOptions));
      if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
      await client.create(JOBS, prepared.job);
    },
    getJob: (name) => client.get(JOBS, { namespace: NAMESPACE, name }),
    record: async (name) => {
      const parsed = writtenRecordOf(await world.getJob(name));
      return parsed.kind === 'Record' ? parsed.record : undefined;
    },
    running: async () => {
      const { items } = await client.list(JOBS);
      return items
        .filter(
          (job) =>
            job.spec.suspend !== true &&
            writtenRecordOf(job).kind === 'Record' &&
            !hasCondition(job, 'Complete') &&
            !hasCondition(job, 'Failed'),
        )
        .map(({ metadata }) => metadata.name)
        .toSorted();
    },
    finish: async (name, result = 'Complete') => {
      const time = new Date(clock.now()).toISOString();
      const interim = result === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
      const conditions = [interim, result].map((type) => ({ type, status: 'True', lastTransitionTime: time }));
      const status = { startTime: time, conditions, ...(result === 'Complete' ? { completionTime: time, succeeded: 1 } : { failed: 1 }) };
      await client.patchStatus(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body: { status } });
    },
    rest: async (name) => {
      const record = await world.record(name);
      if (record === undefined) throw new Error(`Job ${name} was never admitted`);
      const time = new Date(clock.now()).toISOString();
      const conditions = [{ type: 'Suspended', status: 'True', lastTransitionTime: time }, restingAfter(record)];
      const body = { status: { startTime: null, active: 0, conditions } };
      await client.patchStatus(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body });
    },
    remove: async (name, { gone } = { gone: true }) => {
      const key = { namespace: NAMESPACE, name };
      await client.delete(JOBS, key, { propagationPolicy: 'Background' });
      if (gone) await client.patch(JOBS, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    },
    metric: async (name, labels = {}) => {
      const { values = [] } = (await running.registry.getSingleMetric(name)?.get()) ?? {};
      // Of a histogram: how often.
      const own = values.filter((each) => !('metricName' in each) || each.metricName === `${name}_count` || each.metricName === name);
      const found = own.filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value));
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    stop: () => running.stop(),
    listen: async () => (await controlPlane.listen()).kubeconfig,
    restart: async () => {
      await running.stop();
      running = start(options.wrap?.(client) ?? client, clock, options);
      await settle(50);
    },
    close: async () => {
      await running.stop();
      await controlPlane.close();
    },
  };
  return world;
}

function start(
  client: KubeClient,
  clock: FakeClock,
  { requeuingTimestamp, fairSharing, admissionFairSharing, decisionLog }: Settings,
): { readonly admission: Admission; readonly registry: Registry; stop(): Promise<void> } {
  const informer = <T extends KubeObject>(resource: Resource<T>) =>
    createInformer({ client, resource, clock: clock as Clock, random: seededRandom(2), log: silentLogger });
  const informers = {
    jobs: informer(JOBS),
    namespaces: informer(NAMESPACES),
    workerClusters: informer(WORKER_CLUSTERS),
    resourceFlavors: informer(RESOURCE_FLAVORS),
    clusterQueues: informer(CLUSTER_QUEUES),
    localQueues: informer(LOCAL_QUEUES),
    cohorts: informer(COHORTS),
    workloadPriorityClasses: informer(WORKLOAD_PRIORITY_CLASSES),
    priorityClasses: informer(PRIORITY_CLASSES),
    limitRanges: informer(LIMIT_RANGES),
    runtimeClasses: informer(RUNTIME_CLASSES),
  };
  const registry = new Registry();
  const { admission: metrics, startEstimates } = createManagerMetrics(registry);
  const events = createEventRecorder({ client, component: 'switchyard-manager', clock, log: silentLogger });
  const records = createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND);
  const lostClusters = createLostClusters(clock);
  informers.workerClusters.addHandler(lostClusters.handler);
  const admission = createAdmission({
    kind: JOB_KIND,
    client,
    events,
    storyEvents: events,
    informers,
    records,
    lostClusters,
    workerLostTimeoutMs: 900_000,
    ...omitUndefined({ requeuingTimestamp, fairSharing, admissionFairSharing, decisionLog }),
    clock,
    log: silentLogger,
    metrics,
  });
  const estimates = createStartEstimates({
    kind: JOB_KIND,
    jobs: informers.jobs,
    readRecord: records.read,
    admission: admission.view,
    clock,
    log: silentLogger,
    metrics: startEstimates,
  });
  informers.jobs.addHandler(estimates);
  const abort = new AbortController();
  const programs = [...Object.values(informers), admission, estimates];
  const done = Promise.all(programs.map((each) => each.run(abort.signal)));
  return {
    admission,
    registry,
    stop: async () => {
      abort.abort();
      await clock.settle();
      await done;
    },
  };
}

const jobManifest = (name: string, { queue = 'main', cpu = '1', labels = {}, annotations = {}, spec = {} }: JobOptions): JobManifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: queue, ...labels }, annotations },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }] } },
    ...spec,
  },
});

export const hasCondition = (job: Job, type: string): boolean => conditionOf(job, type)?.status === 'True';
export const conditionOf = (job: Job, type: string): JobCondition | undefined => job.status?.conditions?.find((each) => each.type === type);
