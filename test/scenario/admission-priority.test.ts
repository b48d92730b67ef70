/** Who goes first in a ClusterQueue: by classes that administrators make, by bounds that they set, and never by what can never run. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PRIORITY_CLASSES } from '../../manager/api/priority-class.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import { CLUSTERS_ANNOTATION, PRIORITY_ANNOTATION, PRIORITY_CLASS_LABEL } from '../../shared/api/names.ts';
import { conditionOf, createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  await world.flavor('default');
});
afterEach(() => world.close());

const setPriorityClass = (name: string, value: number) => world.client.create(PRIORITY_CLASSES, { metadata: { name }, value });
const workloadClass = (name: string, value: number) => world.client.create(WORKLOAD_PRIORITY_CLASSES, { metadata: { name }, value });
const pod = (priorityClassName: string): object => ({
  template: {
    spec: {
      priorityClassName,
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }],
    },
  },
});
const waitsBecause = async (name: string): Promise<string | undefined> => {
  await world.settle(2_500);
  const condition = conditionOf(await world.getJob(name), 'QuotaReserved');
  return condition?.status === 'False' ? condition.reason : undefined;
};
/** The order in which Jobs run, one at a time. */
async function orderOf(count: number): Promise<string[]> {
  const order: string[] = [];
  for (let round = 0; round < count; round++) {
    await world.settle(1_000);
    const [name = 'nobody'] = await world.running();
    order.push(name);
    if (name !== 'nobody') await world.finish(name);
  }
  return order;
}

describe('the priority of a Job', () => {
  test('is that of its class, of Jobs or of pods; without one it is 0', async () => {
    await world.queue('main', { cpu: '1' });
    await setPriorityClass('high', 1000);
    await workloadClass('nightly', -10);
    await workloadClass('urgent', 2000);
    await world.job('nightly', { labels: { [PRIORITY_CLASS_LABEL]: 'nightly' } });
    await world.job('plain');
    await world.job('high', { spec: pod('high') });
    await world.job('urgent', { labels: { [PRIORITY_CLASS_LABEL]: 'urgent' }, spec: pod('high') });
    await world.cluster('eu-1');
    expect(await orderOf(4)).toEqual(['urgent', 'high', 'plain', 'nightly']);
  });

  test('is that of the WorkloadPriorityClass default where it states none, also if that comes later than the Job', async () => {
    await world.queue('main', { cpu: '1' });
    await setPriorityClass('high', 1000);
    await workloadClass('nightly', -10);
    await world.job('nightly', { labels: { [PRIORITY_CLASS_LABEL]: 'nightly' } });
    await world.job('itself', { annotations: { [PRIORITY_ANNOTATION]: '-15' } });
    await world.job('plain');
    await world.settle(1_000);
    await workloadClass('default', -20);
    await world.job('high', { spec: pod('high') });
    await world.settle(1_000);
    await world.cluster('eu-1');
    expect(await orderOf(4)).toEqual(['nightly', 'itself', 'plain', 'high']);
  });

  test('waits for a class that does not exist, and follows one that changes', async () => {
    await world.queue('main', { cpu: '1' });
    await world.job('plain');
    await world.job('named', { labels: { [PRIORITY_CLASS_LABEL]: 'later' } });
    expect(await waitsBecause('named')).toBe('PriorityClassNotFound');
    const { metadata } = await workloadClass('later', -5);
    await world.settle(1_000);
    expect(await waitsBecause('named')).toBe('NoClusterFits');
    await world.client.replace(WORKLOAD_PRIORITY_CLASSES, { metadata, value: 5 });
    await world.settle(1_000);
    await world.cluster('eu-1');
    expect(await orderOf(2)).toEqual(['named', 'plain']);
  });

  test('that it gives itself counts within the bounds of its LocalQueue, and not at all above', async () => {
    await world.queue('main', { cpu: '1' });
    await world.job('greedy', { annotations: { [PRIORITY_ANNOTATION]: '2147483647' } });
    expect(await waitsBecause('greedy')).toBe('PriorityNotAllowed');
    await world.job('plain');
    const body = { spec: { priorityBounds: { max: 10 } } };
    await world.client.patch(LOCAL_QUEUES, { namespace: NAMESPACE, name: 'main' }, { type: 'merge', body });
    await world.job('modest', { annotations: { [PRIORITY_ANNOTATION]: '10' } });
    await world.cluster('eu-1');
    expect(await orderOf(2)).toEqual(['modest', 'plain']);
    expect(await waitsBecause('greedy')).toBe('PriorityNotAllowed');
  });
});

describe('in a StrictFIFO queue', () => {
  beforeEach(async () => {
    await world.queue('main', { cpu: '2', spec: { queueingStrategy: 'StrictFIFO' } });
    await world.cluster('eu-1', { capacity: { cpu: '1' } });
    await workloadClass('urgent', 2000);
  });
  const urgent = { [PRIORITY_CLASS_LABEL]: 'urgent' };

  test.each<[string, object, string]>([
    ['that wishes for clusters that do not exist', { annotations: { [CLUSTERS_ANNOTATION]: 'nowhere' } }, 'NoClusterFits'],
    ['that asks for more than its queue could ever give', { cpu: '3' }, 'ExceedsQuota'],
    ['that asks for more than any cluster has', { cpu: '2' }, 'NoClusterFits'],
  ])('a first Job %s lets the others pass, and says why it waits', async (_what, parts, reason) => {
    await world.job('never', { labels: urgent, ...parts });
    await world.job('modest');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['modest']);
    expect(await waitsBecause('never')).toBe(reason);
    // What becomes free changes nothing for it.
    await world.finish('modest');
    await world.job('next');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['next']);
  });

  test('it is looked at again when there is another cluster, before those that came after it', async () => {
    await world.job('never', { labels: urgent, annotations: { [CLUSTERS_ANNOTATION]: 'us-2' } });
    await world.job('one');
    await world.job('two');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['one']);
    expect(await waitsBecause('two')).toBe('NoClusterFits');
    await world.cluster('us-2', { capacity: { cpu: '1' } });
    await world.settle(1_000);
    expect(await world.running()).toEqual(['never', 'one']);
  });

  test('a first Job that fits when another has ended still blocks those behind it', async () => {
    await world.job('running');
    await world.settle(1_000);
    await world.job('first', { labels: urgent });
    await world.job('second');
    await world.settle(1_000);
    expect(await world.running()).toEqual(['running']);
    expect(await waitsBecause('second')).toBe('BehindEarlierJob');
  });
});
