/** Goal: a Job whose pods name a PriorityClass that only the manager cluster has preempts nobody, and says what is missing where. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { PRIORITY_CLASSES } from '../../manager/api/priority-class.ts';
import { accessObjects, type Granted } from '../../manager/cli/clusters/access-rights.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { createWholeWorld, HOME, manifest, type RunningProgram, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
let manager: RunningProgram;
beforeEach(async () => {
  world = await createWholeWorld({ clusters: ['east'] });
  const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1' }] }];
  const spec = { resourceGroups: [{ coveredResources: ['cpu'], flavors }], preemption: { withinClusterQueue: 'LowerPriority' } };
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
  await makeClass(world.home, 'urgent');
  world.startWorker('east', 'worker');
});
afterEach(() => world.close());

const makeClass = (client: KubeClient, name: string) => client.create(PRIORITY_CLASSES, { metadata: { name }, value: 1000 });
const submitUrgent = (): Promise<void> => {
  const template = manifest('urgent', { cpu: '1' }).spec?.template;
  return world.submit('urgent', { spec: { template: { ...template, spec: { ...template?.spec, priorityClassName: 'urgent' } } } });
};
const isComplete = async (name: string): Promise<boolean> => hasTrueCondition((await world.job(name)).status?.conditions, 'Complete');
const toldOf = async (name: string): Promise<string | undefined> =>
  findCondition((await world.job(name)).status?.conditions, 'QuotaReserved')?.message;

async function withOneRunning(): Promise<void> {
  await world.clock.advance(5_000);
  await world.submit('running', { seconds: 60, cpu: '1' });
  await world.clock.advance(5_000);
}

test('it waits with the reason while another runs, and preempts that once the class is there', async () => {
  manager = world.startManager('manager');
  await withOneRunning();
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.priorityClasses).toEqual([]);
  await submitUrgent();
  await world.clock.advance(20_000);
  expect(await toldOf('urgent')).toContain('east: no PriorityClass urgent');
  expect((await world.job('running')).spec.suspend).toBe(false);

  await makeClass(world.client('east'), 'urgent');
  await world.clock.advance(10_000);
  expect(await isComplete('urgent')).toBe(true);
  expect(findCondition((await world.job('running')).status?.conditions, 'Preempted')).toBeDefined();
  expect(manager.outcome()).toBeUndefined();
});

test('where the manager may not list PriorityClasses, nothing is known of them, and it is placed as before', async () => {
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
  const older = JSON.parse(JSON.stringify(accessObjects(wish)).replaceAll('"priorityclasses"', '"nothing"')) as Granted[];
  for (const { resource, object } of older) {
    const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    await world.client('east').patch(resource, key, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
  }
  const account = { name: 'system:serviceaccount:switchyard:access', groups: ['system:serviceaccounts', 'system:authenticated'] };
  const administrator = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  manager = world.startManager('manager', { user: (cluster) => (cluster === HOME ? administrator : account) });
  await withOneRunning();
  expect((await world.job('running')).spec.suspend).toBe(false);
  await submitUrgent();
  await world.clock.advance(20_000);
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.priorityClasses).toBeUndefined();
  expect(manager.line.refused.length).toBeGreaterThan(0);
  expect((await world.job('running')).spec.suspend).toBe(true);
});
