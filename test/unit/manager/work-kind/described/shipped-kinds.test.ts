import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import type { CopyOptions } from '../../../../../manager/work-kind/copy-options.ts';
import { requestsOf } from '../../../../../manager/work-kind/pod-sets.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { asCrd } from '../../../../../shared/controlplane/crd/crd.ts';
import { resourcesFromCrd } from '../../../../../shared/controlplane/crd/custom-resource.ts';
import { decodeObject } from '../../../../../shared/controlplane/schema/decode.ts';
import type { WorkObject, WorkStatus } from '../../../../../shared/api/kubernetes.ts';
import { SHIPPED, SHIPPED_LINES, shippedKind } from './described.ts';

const OPTIONS: CopyOptions = { origin: 'manager-1', epoch: 1, jobController: 'switchyard.dev/worker', local: false, flavors: [] };
const template = (cpu: string) => ({ spec: { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu } } }] } });
const replicas = (count: number | undefined, cpu: string) => ({
  ...(count === undefined ? {} : { replicas: count }),
  template: template(cpu),
});
const training = (field: string): object => ({ [field]: { Master: replicas(undefined, '1'), Worker: replicas(3, '2') } });
const rayCluster = {
  headGroupSpec: { rayStartParams: {}, template: template('1') },
  workerGroupSpecs: [
    { groupName: 'small', replicas: 2, minReplicas: 0, maxReplicas: 2, rayStartParams: {}, template: template('2') },
    { groupName: 'slices', replicas: 1, numOfHosts: 4, minReplicas: 0, maxReplicas: 1, rayStartParams: {}, template: template('3') },
  ],
};

type Sample = {
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

const condition = (type: string, status = 'True', reason = type) => ({
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

const SAMPLES: Readonly<Record<string, Sample>> = {
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

const sampleOf = (kind: string): Sample => {
  const sample = SAMPLES[kind];
  if (sample === undefined) throw new Error(`there is no sample of ${kind}`);
  return sample;
};

const KINDS = [...SHIPPED.keys()].toSorted();
const anObject = (kind: string, { spec = {}, status }: { readonly spec?: object; readonly status?: object } = {}): WorkObject => {
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

test('no description has more than 40 lines, and each has a sample', () => {
  expect([...SHIPPED_LINES].filter(([, lines]) => lines > 40)).toEqual([]);
  expect(Object.keys(SAMPLES).toSorted()).toEqual(KINDS);
});

describe.each(KINDS)('%s', (name) => {
  const kind = shippedKind(name);
  const sample = sampleOf(name);
  const copyOf = (status?: object, suspended = false): WorkObject => {
    const { metadata, ...copy } = kind.copies.of(kind.prepared(anObject(name)), OPTIONS);
    const saved = {
      ...copy,
      metadata: { ...anObject(name).metadata, ...metadata },
      ...(status === undefined ? {} : { status }),
    } as WorkObject;
    const full = suspended ? (kind.copies.suspended(saved) as WorkObject) : saved;
    return kind.copies.essentials(full, false);
  };

  test('is taken, with all of its pods and what they request', () => {
    const object = anObject(name);
    expect(kind.ruleProblems(object, DEFAULT_JOB_RULES)).toEqual([]);
    expect(kind.podSets(object).map((podSet) => [podSet.name, podSet.count])).toEqual(sample.podSets);
    expect(requestsOf(kind.podSets(object)).requests.get('cpu')).toBe(sample.cpu);
    expect(kind.podsAtOnce(object)).toBe(sample.podSets.reduce((sum, [, count]) => sum + count, 0));
  });

  test('is suspended and kept from its operator at home, and run by it as a copy', () => {
    const home = kind.prepared(anObject(name));
    expect([kind.isSuspended(home), kind.controllerOf(home)]).toEqual([true, 'switchyard.dev/manager']);
    expect(JSON.stringify(home.spec)).toContain(`"managedBy":"${sample.managedBy}"`);
    const copy = kind.copies.of(home, OPTIONS);
    expect([kind.isSuspended(copy), JSON.stringify(copy.spec).includes('managedBy')]).toEqual([false, false]);
  });

  test('starts, is ready, rests once it is suspended, and ends by its own status', () => {
    const state = (copy: WorkObject) => ({
      begun: !kind.copies.isUnbegun(copy),
      ready: kind.progress(copy).ready > 0,
      rests: kind.copies.isAtRest(copy),
      ended: kind.home.hasVerdict(copy),
    });
    const none = { begun: false, ready: false, rests: false, ended: false };
    expect(state(copyOf())).toEqual(none);
    expect(state(copyOf(sample.running))).toEqual({ ...none, begun: true });
    expect(state(copyOf(sample.ready))).toEqual({ ...none, begun: true, ready: true });
    expect(state(copyOf(sample.rests, true))).toEqual({ ...none, rests: true });
    expect(state(copyOf(sample.rests))).toEqual(none);
    expect(state(copyOf(sample.ready, true)).rests).toBe(false);
    expect(state(copyOf({}, true)).rests).toBe(false);
  });

  test.runIf(sample.reason !== '')('is complete at home, by the reason of its kind', () => {
    const end = copyOf(sample.ended).status?.conditions?.find(({ type }) => type === 'Complete');
    expect(end).toMatchObject({ status: 'True', reason: sample.reason });
  });

  test('keeps what its operator says, with no status of its own in the way', () => {
    const copy = copyOf(sample.ready);
    const home = kind.home.of({ local: anObject(name), remote: copy.status, own: [], nowMs: 0 });
    const { conditions: said, ...fields } = home;
    expect(fields).toEqual(Object.fromEntries(Object.entries(sample.ready).filter(([field]) => field !== 'conditions')));
    expect(said?.every((each) => !('lastProbeTime' in each))).toBe(true);
  });
});

describe('what a description cannot see is refused', () => {
  test.each([
    ['RayJob', { clusterSelector: { a: 'b' } }, 'spec.clusterSelector'],
    ['RayJob', { shutdownAfterJobFinishes: false }, 'spec.shutdownAfterJobFinishes'],
    ['RayJob', { rayClusterSpec: { ...rayCluster, enableInTreeAutoscaling: true } }, 'spec.rayClusterSpec.enableInTreeAutoscaling'],
    ['RayCluster', { enableInTreeAutoscaling: true }, 'spec.enableInTreeAutoscaling'],
    ['TrainJob', { trainer: { numNodes: 2 } }, 'spec.trainer'],
    ['TrainJob', { initializer: {} }, 'spec.initializer'],
    ['AppWrapper', { components: [{ template: {} }] }, 'spec.components'],
  ])('%s with %j', (kind, spec, field) => {
    expect(shippedKind(kind).ruleProblems(anObject(kind, { spec }), DEFAULT_JOB_RULES)[0]?.field).toBe(field);
  });
});

test('a RayJob that submits by HTTP has no submitter, and one with a template of its own has that', () => {
  const kind = shippedKind('RayJob');
  const names = (spec: object) => kind.podSets(anObject('RayJob', { spec })).map(({ name }) => name);
  expect(names({ submissionMode: 'HTTPMode' })).toEqual(['head', 'workers-small', 'workers-slices']);
  const own = kind.podSets(anObject('RayJob', { spec: { submitterPodTemplate: template('4') } })).at(-1);
  expect(own?.template.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '4' } });
});

test('an elastic PyTorchJob may have fewer workers, and as many masters', () => {
  const kind = shippedKind('PyTorchJob');
  const elastic = anObject('PyTorchJob', { spec: { elasticPolicy: { minReplicas: 1 } } });
  expect(kind.podSets(elastic).map(({ minCount }) => minCount)).toEqual([1, 1]);
  expect(kind.podSets(kind.admittedPart(elastic, { parallelism: 2 })).map(({ count }) => count)).toEqual([1, 1]);
});

test.each([
  ['RayJob', { jobDeploymentStatus: 'Complete', jobStatus: 'STOPPED', reason: 'AppFailed', message: 'm' }, 'AppFailed'],
  ['RayJob', { jobDeploymentStatus: 'Failed', jobStatus: 'FAILED' }, 'Failed'],
  ['JobSet', { conditions: [condition('Completed', 'False'), condition('Failed', 'True', 'FailedJobs')] }, 'FailedJobs'],
  ['MPIJob', { conditions: [condition('Succeeded', 'False'), condition('Failed', 'True', 'MPIJobEvicted')] }, 'MPIJobEvicted'],
  ['AppWrapper', { phase: 'Failed' }, 'Failed'],
])('a %s with %j has failed: %s', (name, status, reason) => {
  const kind = shippedKind(name);
  const copy = kind.copies.essentials(anObject(name, { status }), false);
  expect(copy.status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({ status: 'True', reason });
});

const PUBLISHED = path.join(import.meta.dirname, '../../../../../../shared/kinds');
const published = existsSync(PUBLISHED) ? readdirSync(PUBLISHED).filter((name) => name.endsWith('.json')) : [];

describe.runIf(published.length > 0)('by its published definition', () => {
  test.each(published)('%s takes the sample at home, its copy, and the status that comes home', (file) => {
    const crd = asCrd(JSON.parse(readFileSync(path.join(PUBLISHED, file), 'utf8')) as AnyObject);
    const name = crd.spec?.names?.kind ?? '';
    const kind = shippedKind(name);
    const definitions = resourcesFromCrd({ ...crd, status: { acceptedNames: crd.spec?.names ?? {} } });
    const served = definitions.find(({ definition }) => definition.version === kind.resource.version);
    if (served === undefined) throw new Error(`${file} does not serve ${kind.resource.version}`);
    const problems = (object: unknown): string[] => {
      const decoded = decodeObject(JSON.stringify(object), 'application/json', served.schema, 'Strict').object;
      served.definition.strategy.applyDefaults?.(decoded);
      return (served.definition.strategy.validateCreate?.(decoded) ?? []).map(({ field, body }) => `${field}: ${body}`);
    };
    const home = kind.prepared(anObject(name));
    const { ready } = sampleOf(name);
    const copy = kind.copies.essentials(anObject(name, { status: ready }), false);
    const own = [{ type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'on a' }] as const;
    const { status } = kind.home.stored(kind.home.of({ local: home, remote: copy.status, own, nowMs: 0 }));
    expect(problems(home)).toEqual([]);
    expect(problems({ ...home, status })).toEqual([]);
    const { metadata, ...rest } = kind.copies.of(home, OPTIONS);
    expect(problems({ ...rest, metadata: { ...metadata, uid: 'copy' } })).toEqual([]);
  });
});
