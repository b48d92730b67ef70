import type { WorkObject, WorkStatus } from '../../../../../shared/api/kubernetes.ts';
import { SHIPPED } from './described.ts';

export const template = (cpu: string) => ({ spec: { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu } } }] } });
const replicas = (count: number | undefined, cpu: string) => ({
  ...(count === undefined ? {} : { replicas: count }),
  template: template(cpu),
});
const training = (field: string): object => ({ [field]: { Master: replicas(undefined, '1'), Worker: replicas(3, '2') } });
export const rayCluster = {
  headGroupSpec: { rayStartParams: {}, template: template('1') },
  workerGroupSpecs: [
    { groupName: 'small', replicas: 2, minReplicas: 0, maxReplicas: 2, rayStartParams: {}, template: template('2') },
    { groupName: 'slices', replicas: 1, numOfHosts: 4, minReplicas: 0, maxReplicas: 1, rayStartParams: {}, template: template('3') },
  ],
};

/** An object of a shipped kind, and what its operator says of it on its way. */
export type Sample = {
  readonly spec: object;
  readonly podSets: readonly (readonly [string, number])[];
  /** Requested in all, in thousandths. */
  readonly cpu: number;
  readonly managedBy: string;
  readonly running: object;
  readonly ready: object;
  readonly rests: object;
  readonly ended: object;
  readonly reason: string;
};

export const condition = (type: string, status = 'True', reason = type) => ({
  type,
  status,
  reason,
  message: 'm',
  lastTransitionTime: '2026-01-01T00:30:00Z',
});
const conditions = (...types: string[]) => ({ conditions: types.map((type) => condition(type)) });
const KUEUES = 'kueue.x-k8s.io/multikueue';
const jobs = (name: string, counts: object) => [{ name, active: 0, failed: 0, ready: 0, succeeded: 0, suspended: 0, ...counts }];
const trained = {
  running: { startTime: '2026-01-01T00:10:00Z', ...conditions('Created') },
  ready: { startTime: '2026-01-01T00:10:00Z', ...conditions('Created', 'Running') },
  rests: { ...conditions('Created', 'Suspended'), replicaStatuses: { Worker: {} } },
  ended: { startTime: '2026-01-01T00:10:00Z', completionTime: '2026-01-01T00:40:00Z', ...conditions('Succeeded') },
  reason: 'Succeeded',
};
const trainingSample = (field: string): Sample => ({
  spec: training(field),
  podSets: [
    ['master', 1],
    ['worker', 3],
  ],
  cpu: 7000,
  managedBy: KUEUES,
  ...trained,
});

export const SAMPLES: Readonly<Record<string, Sample>> = {
  JobSet: {
    spec: {
      replicatedJobs: [
        { name: 'driver', template: { spec: { template: template('1') } } },
        { name: 'workers', replicas: 2, template: { spec: { parallelism: 4, completions: 3, template: template('2') } } },
      ],
    },
    podSets: [
      ['driver', 1],
      ['workers', 6],
    ],
    cpu: 13_000,
    managedBy: 'switchyard.dev/manager',
    running: { replicatedJobsStatus: jobs('driver', { active: 1 }) },
    ready: { replicatedJobsStatus: [...jobs('driver', { succeeded: 1 }), ...jobs('workers', { ready: 2, active: 2 })] },
    rests: { replicatedJobsStatus: jobs('driver', { suspended: 1 }), ...conditions('Suspended') },
    ended: { terminalState: 'Completed', ...conditions('Completed') },
    reason: 'Completed',
  },
  RayJob: {
    spec: { entrypoint: 'python train.py', shutdownAfterJobFinishes: true, submissionMode: 'K8sJobMode', rayClusterSpec: rayCluster },
    podSets: [
      ['head', 1],
      ['workers-small', 2],
      ['workers-slices', 4],
      ['submitter', 1],
    ],
    cpu: 17_500,
    managedBy: KUEUES,
    running: { jobDeploymentStatus: 'Initializing', startTime: '2026-01-01T00:10:00Z' },
    ready: { jobDeploymentStatus: 'Running', jobStatus: 'RUNNING', rayClusterStatus: { state: 'ready' } },
    rests: { jobDeploymentStatus: 'Suspended' },
    ended: { jobDeploymentStatus: 'Complete', jobStatus: 'SUCCEEDED', endTime: '2026-01-01T00:40:00Z' },
    reason: 'Complete',
  },
  RayCluster: {
    spec: rayCluster,
    podSets: [
      ['head', 1],
      ['workers-small', 2],
      ['workers-slices', 4],
    ],
    cpu: 17_000,
    managedBy: KUEUES,
    running: { observedGeneration: 1 },
    ready: { observedGeneration: 1, state: 'ready' },
    rests: { observedGeneration: 1, state: 'suspended', ...conditions('RayClusterSuspended') },
    ended: {},
    reason: '',
  },
  MPIJob: {
    spec: { mpiReplicaSpecs: { Launcher: replicas(undefined, '1'), Worker: replicas(3, '2') } },
    podSets: [
      ['launcher', 1],
      ['worker', 3],
    ],
    cpu: 7000,
    managedBy: KUEUES,
    ...trained,
  },
  PyTorchJob: trainingSample('pytorchReplicaSpecs'),
  TFJob: trainingSample('tfReplicaSpecs'),
  XGBoostJob: trainingSample('xgbReplicaSpecs'),
  PaddleJob: trainingSample('paddleReplicaSpecs'),
  JAXJob: trainingSample('jaxReplicaSpecs'),
  TrainJob: {
    spec: { runtimeRef: { name: 'torch' }, trainer: { numNodes: 4, resourcesPerNode: { requests: { cpu: '2' } } } },
    podSets: [['node', 4]],
    cpu: 8000,
    managedBy: KUEUES,
    running: { jobsStatus: jobs('node', { active: 1 }) },
    ready: { jobsStatus: jobs('node', { active: 1, ready: 1 }) },
    rests: { jobsStatus: jobs('node', { suspended: 1 }), ...conditions('Suspended') },
    ended: conditions('Complete'),
    reason: 'Complete',
  },
  AppWrapper: {
    spec: {
      components: [
        { template: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' } }, podSets: [] },
        {
          template: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template: template('2') } },
          podSets: [{ replicas: 3, path: 'template.spec.template' }],
        },
      ],
    },
    podSets: [['pods-1-0', 3]],
    cpu: 6000,
    managedBy: 'switchyard.dev/manager',
    running: { phase: 'Resuming' },
    ready: { phase: 'Running', ...conditions('PodsReady') },
    rests: { phase: 'Suspended' },
    ended: { phase: 'Succeeded' },
    reason: 'Complete',
  },
};

export const sampleOf = (kind: string): Sample => {
  const sample = SAMPLES[kind];
  if (sample === undefined) throw new Error(`there is no sample of ${kind}`);
  return sample;
};

export const anObject = (kind: string, { spec = {}, status }: { readonly spec?: object; readonly status?: object } = {}): WorkObject => {
  const description = SHIPPED.get(kind)?.spec;
  return {
    apiVersion: `${description?.group}/${description?.version}`,
    kind,
    metadata: {
      name: 'sample',
      namespace: 'team',
      uid: 'uid',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'switchyard.dev/queue-name': 'main' },
    },
    spec: { ...sampleOf(kind).spec, ...spec },
    ...(status === undefined ? {} : { status: status as WorkStatus }),
  };
};
