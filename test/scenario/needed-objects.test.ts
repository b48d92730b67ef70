/** Goal: a Job runs only where what its pods need exists, says what is missing where, and gets going once it is there. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessObjects, type Granted } from '../../manager/cli/clusters/access-rights.ts';
import { readWorld } from '../../manager/cli/explain/world-reader.ts';
import { explain } from '../../manager/insight/explain/explain.ts';
import { RUNTIME_CLASSES } from '../../manager/api/runtime-class.ts';
import { WORKER_CLUSTERS, type WorkerClusterStatus } from '../../manager/api/worker-cluster.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import type { PodSpec } from '../../shared/api/kubernetes.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICE_ACCOUNTS } from '../../shared/api/resources.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { createWholeWorld, HOME, manifest, NAMESPACE, type RunningProgram, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
beforeEach(async () => {
  world = await createWholeWorld({ clusters: ['east', 'west'] });
  for (const cluster of ['east', 'west']) world.startWorker(cluster, 'worker');
});
afterEach(() => world.close());

const submit = (name: string, pod: Partial<PodSpec>, parts: { readonly seconds?: number } = {}): Promise<void> => {
  const template = manifest(name, parts).spec?.template;
  return world.submit(name, { spec: { template: { ...template, spec: { ...template?.spec, ...pod } } } });
};
const mounting = (...names: string[]): Partial<PodSpec> => ({
  volumes: names.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } })),
});
async function createClaim(cluster: string, name: string): Promise<void> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const metadata = { name, namespace: NAMESPACE };
  await world.client(cluster).create(PERSISTENT_VOLUME_CLAIMS, { metadata, spec } as never);
}
const isComplete = async (name: string): Promise<boolean> => hasTrueCondition((await world.job(name)).status?.conditions, 'Complete');
const clusterOf = async (name: string): Promise<string | undefined> => (await world.job(name)).metadata.labels?.['switchyard.dev/cluster'];
async function waitingFor(name: string): Promise<string> {
  const condition = findCondition((await world.job(name)).status?.conditions, 'QuotaReserved');
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}
const statusOf = async (name: string): Promise<WorkerClusterStatus | undefined> =>
  (await world.home.get(WORKER_CLUSTERS, { namespace: '', name })).status;
/** Requests for single objects that Jobs need. */
const questions = (manager: RunningProgram): number =>
  manager.line.sent.filter(({ path }) => /^GET .*\/(persistentvolumeclaims|serviceaccounts)\//.test(path)).length;

test('a Job goes where its PersistentVolumeClaims are, and a Job that needs nothing costs no question', async () => {
  const manager = world.startManager('manager');
  await createClaim('west', 'data');
  await world.submit('plain');
  await world.clock.advance(5_000);
  expect(questions(manager)).toBe(0);
  for (const name of ['one', 'two', 'three']) await submit(name, mounting('data'));
  await world.clock.advance(5_000);
  expect(await Promise.all(['one', 'two', 'three'].map(clusterOf))).toEqual(['west', 'west', 'west']);
  expect(questions(manager)).toBe(2);
  await world.clock.advance(300_000);
  expect(await isComplete('three')).toBe(true);
  expect(questions(manager)).toBe(2);
  expect(manager.outcome()).toBeUndefined();
});

test('where no cluster has it, the Job waits without quota, all say why, and it runs once the claim is there', async () => {
  world.startManager('manager');
  await world.clock.advance(5_000);
  await submit('train', mounting('data'));
  await world.clock.advance(20_000);
  expect(await waitingFor('train')).toContain('east: no PersistentVolumeClaim team/data; west: no PersistentVolumeClaim team/data');
  expect((await statusOf('east'))?.missingObjects).toEqual(['PersistentVolumeClaim team/data']);
  const { world: explained } = await readWorld({ client: world.home, kind: JOB_KIND }, world.clock.now());
  const [workload] = explained.workloads;
  const explanation = workload && explain(explained, await world.job('train'), workload);
  expect(explanation).toMatchObject({
    kind: 'Waiting',
    clusters: [
      { cluster: 'east', problem: 'no PersistentVolumeClaim team/data' },
      { cluster: 'west', problem: 'no PersistentVolumeClaim team/data' },
    ],
  });

  await createClaim('east', 'data');
  await world.clock.advance(20_000);
  expect(await isComplete('train')).toBe(true);
  expect(await clusterOf('train')).toBe('east');
  await world.clock.advance(30_000);
  expect((await statusOf('west'))?.missingObjects).toBeUndefined();
});

test('a ServiceAccount that the pods name must exist there, and the RuntimeClass too', async () => {
  world.startManager('manager');
  await world.client('east').create(SERVICE_ACCOUNTS, { metadata: { name: 'trainer', namespace: NAMESPACE } });
  await world.client('west').create(RUNTIME_CLASSES, { metadata: { name: 'gvisor' }, handler: 'runsc' });
  await world.home.create(RUNTIME_CLASSES, { metadata: { name: 'gvisor' }, handler: 'runsc' });
  await world.clock.advance(5_000);
  expect([(await statusOf('east'))?.runtimeClasses, (await statusOf('west'))?.runtimeClasses]).toEqual([[], ['gvisor']]);
  await submit('account', { serviceAccountName: 'trainer' });
  await submit('sandboxed', { runtimeClassName: 'gvisor' });
  await submit('both', { serviceAccountName: 'trainer', runtimeClassName: 'gvisor' });
  await world.clock.advance(20_000);
  expect([await clusterOf('account'), await clusterOf('sandboxed')]).toEqual(['east', 'west']);
  expect(await waitingFor('both')).toContain('east: no RuntimeClass gvisor; west: no ServiceAccount team/trainer');
});

test('where the manager may not look, nothing is known, and the Job is placed as before', async () => {
  const wish = {
    namespace: 'switchyard',
    name: 'access',
    leaseNamespaces: ['kube-system'],
    servedNamespaces: [],
    createNamespaces: false,
    carryNamespaces: [],
    kinds: [],
    liveLogs: false,
  };
  const older = JSON.parse(
    JSON.stringify(accessObjects(wish)).replaceAll('"persistentvolumeclaims","serviceaccounts"', '"nothing"'),
  ) as Granted[];
  for (const cluster of ['east', 'west'])
    for (const { resource, object } of older) {
      const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
      await world.client(cluster).patch(resource, key, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
    }
  const account = { name: 'system:serviceaccount:switchyard:access', groups: ['system:serviceaccounts', 'system:authenticated'] };
  const administrator = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  world.startManager('manager', { user: (cluster) => (cluster === HOME ? administrator : account) });
  await world.clock.advance(5_000);
  await submit('train', mounting('data'), { seconds: 600 });
  await world.clock.advance(10_000);
  expect(['east', 'west']).toContain(await clusterOf('train'));
});

test('a leader that takes over asks anew before it places a Job', async () => {
  const first = world.startManager('first');
  await world.clock.advance(5_000);
  await submit('train', mounting('data'));
  await world.clock.advance(10_000);
  first.kill();
  await createClaim('west', 'data');
  world.startManager('second');
  await world.clock.advance(90_000);
  expect(await isComplete('train')).toBe(true);
  expect(await clusterOf('train')).toBe('west');
});

test('a Job with hundreds of claims costs a bounded number of questions, and waits for the first that is missing', async () => {
  const manager = world.startManager('manager');
  await world.clock.advance(5_000);
  await submit('greedy', mounting(...Array.from({ length: 500 }, (_, index) => `claim-${String(index).padStart(3, '0')}`)));
  await world.clock.advance(9_000);
  expect(await waitingFor('greedy')).toContain('east: no PersistentVolumeClaim team/claim-000');
  expect(questions(manager)).toBe(64);
  expect((await statusOf('east'))?.missingObjects).toHaveLength(32);
});
