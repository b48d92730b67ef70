/** Goal: a WorkerCluster that is deleted goes when its Jobs have left it, says until then on what it waits, and takes nothing with it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, HOLD_ANNOTATION, ORIGIN_LABEL, WORKER_CLUSTER_FINALIZER } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';

const MINUTE = 60_000;
const lastTransitionTime = '2026-01-01T00:00:03Z';
const eu1 = { namespace: '', name: 'eu-1' };

let world: DispatchWorld;
let eu: WorkerSide;
let us: WorkerSide;
beforeEach(async () => {
  world = await createDispatchWorld();
  eu = world.worker('eu-1');
  us = world.worker('us-2');
});
afterEach(() => world.close());

const setState = (name: string, state: string) =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
const remove = () => world.home.delete(WORKER_CLUSTERS, eu1, { propagationPolicy: 'Background' });
const exists = async (): Promise<boolean> => {
  try {
    await world.home.get(WORKER_CLUSTERS, eu1);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};
const removing = async (): Promise<string | undefined> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, eu1);
  const condition = status?.conditions?.find(({ type }) => type === 'Removing');
  return condition && `${condition.status} ${condition.reason}: ${condition.message}`;
};
const clusterOf = async (name: string): Promise<string | undefined> => {
  const written = writtenRecordOf(await world.job(name));
  return written.kind === 'Record' ? written.record.cluster : undefined;
};
async function runOnEu(name: string): Promise<void> {
  await setState('us-2', 'Cordoned');
  await world.submit(name);
  await world.settle(1_000);
  await eu.report(name, { active: 1, ready: 1, startTime: lastTransitionTime });
  await world.settle(1_000);
  await setState('us-2', 'Active');
}
const rest = (name: string) =>
  eu.report(name, {
    active: 0,
    ready: 0,
    conditions: [{ type: 'Suspended', status: 'True', reason: 'S', message: '', lastTransitionTime }],
  });
/** A Job that is held: its copy rests on eu-1. */
async function restOnEu(name: string): Promise<void> {
  await runOnEu(name);
  await hold(name, 'true');
  await world.settle(1_000);
  await rest(name);
  await world.settle(1_000);
}
const hold = (name: string, value: 'true' | null) =>
  world.home.patch(
    JOBS,
    { namespace: NAMESPACE, name },
    { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: value } } } },
  );

test('it has a finalizer from its first use on, and goes at once when nothing of a Job is there', async () => {
  const { metadata } = await world.home.get(WORKER_CLUSTERS, eu1);
  expect(metadata.finalizers).toEqual([WORKER_CLUSTER_FINALIZER]);
  await remove();
  await world.settle(5_000);
  expect(await exists()).toBe(false);
  expect(eu.line.watches).toBe(0);
});

test('one that nobody could ever connect to goes at once', async () => {
  await world.home.create(WORKER_CLUSTERS, {
    metadata: { name: 'typo' },
    spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: 'typo' } },
  });
  await world.settle(10_000);
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name: 'typo' }, { propagationPolicy: 'Background' });
  expect((await world.home.list(WORKER_CLUSTERS)).items.map(({ metadata }) => metadata.name)).not.toContain('typo');
});

test('it waits for a Job whose admission to it has just been written, although no cache shows that yet', async () => {
  for (const name of ['eu-1', 'us-2']) await setState(name, 'Cordoned');
  await world.submit('sum');
  await world.settle(1_000);
  world.homeLine.hold('jobs');
  await setState('eu-1', 'Active');
  await world.settle(1_000);
  expect(await clusterOf('sum')).toBe('eu-1');
  await remove();
  await world.settle(5_000);
  expect(await exists()).toBe(true);
  world.homeLine.release();
  await setState('us-2', 'Active');
  await world.settle(5_000);
  await rest('sum');
  await world.settle(MINUTE);
  expect(await clusterOf('sum')).toBe('us-2');
  expect(await exists()).toBe(false);
});

test('its Jobs leave it as they do a draining one; it takes no others, and goes with the last', async () => {
  await runOnEu('sum');
  await remove();
  await world.settle(5_000);
  expect(await removing()).toBe(
    "True JobsRemain: deleted; it goes when no Job's record names it. 1 Job is left (team/sum): the condition Dispatched of each says what it waits for",
  );
  expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: true } });
  await world.submit('later', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  await world.settle(60 * MINUTE);
  expect(await exists()).toBe(true);
  await rest('sum');
  await world.settle(5_000);
  expect(await clusterOf('sum')).toBe('us-2');
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await eu.copy('sum')).toBeUndefined();
  expect(await eu.copy('later')).toBeUndefined();
  expect(await exists()).toBe(false);
});

test.each(['before', 'after'])(
  'a Job that rests, and that no other cluster takes, %s it is deleted keeps nothing there and does not keep it',
  async (when) => {
    await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
    await world.settle(1_000);
    await eu.report('sum', { active: 1, ready: 1, startTime: lastTransitionTime });
    await world.settle(1_000);
    const holdAndRest = async (): Promise<void> => {
      await hold('sum', 'true');
      await world.settle(1_000);
      await rest('sum');
      await world.settle(1_000);
    };
    if (when === 'before') await holdAndRest();
    await remove();
    await world.settle(5_000);
    if (when === 'after') await holdAndRest();
    await world.settle(5_000);
    expect(await exists()).toBe(false);
    expect(await eu.copy('sum')).toBeUndefined();
    expect(await clusterOf('sum')).toBe('eu-1');
  },
);

test('a Job that ends there lets it go as well, and nothing is left', async () => {
  await runOnEu('sum');
  await setState('us-2', 'Cordoned');
  await remove();
  await world.settle(2_000);
  await eu.complete('sum');
  await world.settle(5_000);
  expect(await eu.copy('sum')).toBeUndefined();
  expect(await exists()).toBe(false);
});

test('a manager that starts anew goes on with it', async () => {
  await runOnEu('sum');
  await remove();
  await world.settle(2_000);
  await world.stop();
  await world.start();
  await world.settle(30_000);
  expect(await exists()).toBe(true);
  await rest('sum');
  await world.settle(5_000);
  expect(await exists()).toBe(false);
});

test('a manager that starts while it is being deleted takes away what rests there before it lets go', async () => {
  await restOnEu('sum');
  await world.stop();
  await remove();
  await world.start();
  await world.settle(30_000);
  expect(await exists()).toBe(false);
  expect(await eu.copy('sum')).toBeUndefined();
});

test('a copy that rests there and lost its label before it left goes when the cluster joins again', async () => {
  await restOnEu('sum');
  const { status: _left, ...joined } = await world.home.get(WORKER_CLUSTERS, eu1);
  await world.stop();
  const labels = { [ORIGIN_LABEL]: null };
  await eu.client.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body: { metadata: { labels } } });
  await remove();
  await world.start();
  await world.settle(30_000);
  expect(await exists()).toBe(false);
  expect(await eu.copy('sum')).toBeDefined();
  await hold('sum', null);
  await world.settle(5_000);
  expect(await clusterOf('sum')).toBe('us-2');
  await world.home.create(WORKER_CLUSTERS, { ...joined, metadata: { name: 'eu-1' } });
  await world.settle(30_000);
  expect(await eu.copy('sum')).toBeUndefined();
});

test('deleted while it is lost it stays, and says how to give it up; given up, its Jobs move and it goes', async () => {
  await runOnEu('sum');
  eu.line.state = 'swallowed';
  await world.settle(2 * MINUTE);
  await remove();
  await world.settle(60 * MINUTE);
  expect(await removing()).toContain(
    `The cluster is lost; to give it up: kubectl patch workercluster eu-1 --type merge -p '{"spec":{"state":"Lost"}}'`,
  );
  expect(await us.copy('sum')).toBeUndefined();
  await setState('eu-1', 'Lost');
  await world.settle(2 * MINUTE);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await exists()).toBe(false);
});
