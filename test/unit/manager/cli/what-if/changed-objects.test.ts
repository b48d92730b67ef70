import { describe, expect, test } from 'vitest';
import type { WorldObjects } from '../../../../../manager/insight/world/world-objects.ts';
import { CHANGE_KINDS, kindNamed, objectsOf, withObjects } from '../../../../../manager/cli/what-if/change-kinds.ts';
import { changedObjects } from '../../../../../manager/cli/what-if/changed-objects.ts';
import { changesOf, type Change } from '../../../../../manager/cli/what-if/changes.ts';
import { createValidator } from '../../../../../manager/cli/what-if/validation.ts';
import { CLUSTER_QUEUES } from '../../../../../manager/api/cluster-queue.ts';
import { aClusterQueue, aFlavor } from '../../admission/setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
const OBJECTS: WorldObjects = {
  clusterQueues: [aClusterQueue('main', { default: '4' })],
  localQueues: [],
  resourceFlavors: [aFlavor('default')],
  cohorts: [],
  namespaces: [],
  jobs: [],
  workerClusters: [],
  workloadPriorityClasses: [],
  priorityClasses: [],
  limitRanges: [],
  runtimeClasses: [],
};
const ours = (kind: string, name: string, spec: object) => ({ apiVersion: 'switchyard.dev/v1alpha1', kind, metadata: { name }, spec });
const job = (name: string, labels: object = { 'switchyard.dev/queue-name': 'main' }) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, labels },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
});
const apply = (manifest: object): Change => ({ kind: 'Apply', manifest, place: 'changes.yaml, document 1' });
const submit = (manifest: object, copies: number): Change => ({ kind: 'Submit', manifest, copies, place: 'job.yaml, document 1' });
const after = (...changes: readonly Change[]) => changedObjects(OBJECTS, changes, 'team', NOW_MS);

describe('objects after changes', () => {
  test('one that is there is replaced, and the manager’s own objects stay as they were', () => {
    const { objects, said } = after(...changesOf('stop', 'main'));
    expect(objects.clusterQueues[0]?.spec).toMatchObject({ stopPolicy: 'Hold', maxMoves: 5 });
    expect(OBJECTS.clusterQueues[0]?.spec.stopPolicy).toBeUndefined();
    expect(said).toEqual(['stop main']);
  });

  test('one change stands on what another has left', () => {
    const { objects } = after(...changesOf('quota', 'main:default:cpu=+1,main:default:cpu=+1'));
    expect(objects.clusterQueues[0]?.spec.resourceGroups?.[0]?.flavors[0]?.resources[0]?.nominalQuota).toBe('6');
  });

  test('a cluster that is new is taken to answer', () => {
    const cluster = ours('WorkerCluster', 'north', { kubeconfigSecretRef: { namespace: 's', name: 'n' }, capacity: { cpu: '4' } });
    const { objects, said } = after(apply(cluster));
    expect(objects.workerClusters[0]?.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    expect(said).toEqual(['worker cluster north were there']);
  });

  test('Jobs are submitted as the webhook would take them, each under a name of its own', () => {
    const { objects } = after(apply(job('a')), submit(job('a'), 2));
    expect(
      objects.jobs.map((made) => [made.metadata.namespace, made.metadata.name, JOB_KIND.isSuspended(made), JOB_KIND.controllerOf(made)]),
    ).toEqual([
      ['team', 'a', true, 'switchyard.dev/manager'],
      ['team', 'a-1', true, 'switchyard.dev/manager'],
      ['team', 'a-2', true, 'switchyard.dev/manager'],
    ]);
  });

  test('an object is deleted', () => {
    expect(after(...changesOf('remove', 'flavor/default')).objects.resourceFlavors).toEqual([]);
  });

  test.each<[string, readonly Change[], RegExp]>([
    ['a field that there is not', [apply(ours('ClusterQueue', 'main', { quota: 1 }))], /unknown field "spec\.quota"/],
    ['a value that may not be', [apply(ours('ClusterQueue', 'main', { stopPolicy: 'Now' }))], /spec\.stopPolicy: Unsupported value: "Now"/],
    ['a rule of its kind', [apply(ours('WorkerCluster', 'north', {}))], /exactly one of kubeconfigSecretRef and local: true must be set/],
    ['a Job without a queue', [apply(job('a', {}))], /metadata\.labels\[switchyard\.dev\/queue-name\]: is missing/],
    ['a name that nobody has', changesOf('drain', 'east'), /--drain east: there is no worker cluster east; there is none$/],
    [
      'a kind that does not matter',
      [apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })],
      /admission does not look at v1 Pod/,
    ],
    ['a kind of no Job that is submitted', [submit(ours('Cohort', 'a', {}), 2)], /only Jobs are submitted/],
    ['a kind that is unknown', changesOf('remove', 'pods/a'), /pods is no kind/],
    ['a namespace that is missing', changesOf('remove', 'job/a'), /a job is named NAMESPACE\/NAME/],
    ['too many', [submit(job('a'), 10_001)], /more than 10000 Jobs/],
  ])('%s is refused', (_what, changes, problem) => {
    expect(() => after(...changes)).toThrow(problem);
  });
});

describe('kinds', () => {
  test('are named as kubectl names them', () => {
    expect(['flavor', 'ResourceFlavor', 'clusters', 'workerclusters', 'job'].map((word) => kindNamed(word)?.title)).toEqual([
      'resource flavor',
      'resource flavor',
      undefined,
      'worker cluster',
      'job',
    ]);
  });

  test('have their objects in a list each', () => {
    for (const kind of CHANGE_KINDS) expect(objectsOf(withObjects(OBJECTS, kind, []), kind)).toEqual([]);
  });
});

test('an update keeps what only the server writes', () => {
  const [before] = OBJECTS.clusterQueues;
  const validate = createValidator(NOW_MS);
  const next = validate(CLUSTER_QUEUES, ours('ClusterQueue', 'main', { namespaceSelector: {} }), before as never, 'x');
  expect(next.metadata).toMatchObject({ uid: 'main', resourceVersion: '1' });
});
