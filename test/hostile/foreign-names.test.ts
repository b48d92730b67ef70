/**
 * The adversary may create Jobs in a namespace of a worker cluster, or is that cluster: Jobs that have the names of other people's Jobs,
 * and marks of ours, and that do not go. They want those Jobs to wait for ever without a word.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, SECRETS } from '../../shared/api/resources.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startWorkerUnderRbac, type WorkerUnderRbac } from '../support/worker-under-rbac.ts';

const key = (name: string) => ({ namespace: NAMESPACE, name });
const TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };

let clock: FakeClock;
let world: DispatchWorld;
let workers: Map<string, WorkerUnderRbac>;

const worker = (name: string): WorkerUnderRbac => {
  const found = workers.get(name);
  if (found === undefined) throw new Error(`no worker ${name}`);
  return found;
};

/** Names sort the clusters that are equal otherwise: the first is tried first. */
async function join(
  name: string,
  options: { readonly namespaces?: readonly string[]; readonly spec?: object } = {},
): Promise<WorkerUnderRbac> {
  const joined = await startWorkerUnderRbac({ namespaces: options.namespaces ?? [NAMESPACE], identity: name, clock });
  workers.set(name, joined);
  const kubeconfig = Buffer.from(joined.kubeconfig).toString('base64');
  await world.home.create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig } });
  const spec = { kubeconfigSecretRef: { namespace: 'switchyard', name }, capacity: { cpu: '100' }, ...options.spec };
  await world.home.create(WORKER_CLUSTERS, { metadata: { name }, spec });
  await world.settle(2_000);
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name });
  expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  return joined;
}

const theirJob = (cluster: string, name: string, metadata: object = {}): Promise<Job> =>
  worker(cluster).client.create(JOBS, { metadata: { ...key(name), ...metadata }, spec: { suspend: true, template: TEMPLATE } });
/** The Job of ours on a cluster, or undefined. */
const copyOn = async (cluster: string, name: string): Promise<Job | undefined> => {
  const { uid } = (await world.job(name)).metadata;
  const { items } = await worker(cluster).client.list(JOBS, { namespace: NAMESPACE });
  return items.find(({ metadata }) => metadata.annotations?.['switchyard.dev/origin-uid'] === uid);
};
const epochOn = async (cluster: string, name: string): Promise<string | undefined> =>
  (await copyOn(cluster, name))?.metadata.annotations?.['switchyard.dev/dispatch-epoch'];
const told = async (name: string, type: string): Promise<string> => {
  const found = (await world.job(name)).status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const recordOf = async (name: string) => {
  const written = writtenRecordOf(await world.job(name));
  return written.kind === 'Record' ? written.record : undefined;
};

describe('a Job whose name is taken on a worker cluster', () => {
  beforeEach(async () => {
    workers = new Map();
    clock = new FakeClock();
    world = await createDispatchWorld({ workers: [], clock, connectCluster: (name, access) => worker(name).connect(access) });
  });
  afterEach(async () => {
    await world.close();
    for (const each of workers.values()) await each.close();
  });

  test.each<[string, object]>([
    ['by somebody’s Job', { labels: { mine: 'yes' } }],
    ['by one that wears our label, and says nothing else', { labels: { 'switchyard.dev/origin': 'm1' } }],
    [
      'by one that says it is the copy of another Job of another manager',
      {
        labels: { 'switchyard.dev/origin': 'm2' },
        annotations: { 'switchyard.dev/origin-uid': 'stranger', 'switchyard.dev/dispatch-epoch': '1' },
      },
    ],
  ])('%s goes to the next cluster at once, and leaves that Job alone', async (_what, metadata) => {
    await join('a');
    await join('b');
    const theirs = await theirJob('a', 'sum', metadata);
    await world.submit('sum');
    await world.settle(1_000);
    expect(await epochOn('b', 'sum')).toBe('2');
    expect(await told('sum', 'Dispatched')).toMatch(/^True Dispatched: /);
    expect(await recordOf('sum')).toMatchObject({ cluster: 'b', epoch: 2, avoid: { a: { reason: 'NameTaken', refusals: 1, epoch: 1 } } });
    expect(await worker('a').client.get(JOBS, key('sum'))).toEqual(theirs);
    expect(await copyOn('a', 'sum')).toBeUndefined();
    expect(worker('a').line.sent.filter(({ verb }) => verb === 'patch' || verb === 'delete')).toEqual([]);
  });

  test('by one that wears our label and the UID of another Job has it deleted, because it says that it is ours', async () => {
    await join('a');
    const annotations = { 'switchyard.dev/origin-uid': 'of-a-backup', 'switchyard.dev/dispatch-epoch': '1' };
    await theirJob('a', 'sum', { labels: { 'switchyard.dev/origin': 'm1' }, annotations });
    await world.submit('sum');
    await world.settle(2_000);
    expect(await epochOn('a', 'sum')).toBe('1');
  });

  test('by one that cannot be deleted goes to the next cluster after half a minute, and says meanwhile what it waits for', async () => {
    await join('a');
    await join('b');
    const annotations = { 'switchyard.dev/origin-uid': 'of-a-backup', 'switchyard.dev/dispatch-epoch': '7' };
    const metadata = { labels: { 'switchyard.dev/origin': 'm1' }, annotations, finalizers: ['example.com/stay'] };
    await theirJob('a', 'sum', metadata);
    await world.submit('sum');
    await world.settle(25_000);
    expect(await told('sum', 'Dispatched')).toBe('False NameTaken: cluster "a" still has the copy of another Job of this name');
    expect(await copyOn('b', 'sum')).toBeUndefined();
    await world.settle(10_000);
    expect(await epochOn('b', 'sum')).toBe('2');
    // Elsewhere such a Job is in nobody's way.
    await theirJob('a', 'other', metadata);
    await world.submit('other', { annotations: { [CLUSTERS_ANNOTATION]: 'b' } });
    await world.settle(2_000);
    expect(await epochOn('b', 'other')).toBe('1');
  });

  test('on all clusters says of each why, until when, and holds no quota', async () => {
    await join('a');
    await join('b', { namespaces: [] });
    await theirJob('a', 'sum');
    await world.submit('sum');
    await world.settle(2_000);
    expect(await told('sum', 'QuotaReserved')).toMatch(
      /^False NoClusterFits: a: refused it \(NameTaken\), avoided until \S+Z; b: refused it \(NamespaceMissing\), avoided until \S+Z$/,
    );
    expect(await told('sum', 'Dispatched')).toMatch(/^False NamespaceMissing: placement 2: namespace "team" does not exist on cluster "b"/);
    expect((await world.job('sum')).spec.suspend).toBe(true);
    expect(await recordOf('sum')).toMatchObject({ avoid: { a: { epoch: 1 }, b: { epoch: 2 } } });
  });
});

describe('a cluster that refuses a Job', () => {
  const CALLS = /\/namespaces\/team\/jobs/;
  let refused: number;
  /** Whether cluster `a` has a Job of theirs. */
  const occupy = async (): Promise<void> => {
    const { client } = world.worker('a');
    await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await client.create(JOBS, { metadata: key('sum'), spec: { suspend: true, template: TEMPLATE } });
  };
  const tries = (): number => world.worker('a').line.sent.filter((call) => call.startsWith('POST') && CALLS.test(call)).length - refused;
  beforeEach(async () => {
    refused = 0;
    world = await createDispatchWorld({ workers: ['a'] });
    await occupy();
  });
  afterEach(() => world.close());

  test('is asked again when its time has come and not before: after one minute, then two, then four', async () => {
    await world.submit('sum');
    await world.settle(2_000);
    expect(tries()).toBe(1);
    for (const minutes of [1, 2, 4]) {
      refused += tries();
      const until = Date.parse((await recordOf('sum'))?.avoid?.['a']?.until ?? '');
      expect(until - world.clock.now()).toBeGreaterThan((minutes - 1) * 60_000);
      expect(until - world.clock.now()).toBeLessThanOrEqual(minutes * 60_000);
      await world.settle(until - world.clock.now() - 1);
      expect(tries()).toBe(0);
      await world.settle(2_000);
      expect(tries()).toBe(1);
    }
    expect(await recordOf('sum')).toMatchObject({ epoch: 4, avoid: { a: { refusals: 4, epoch: 4 } } });
    await world.worker('a').client.delete(JOBS, key('sum'), { propagationPolicy: 'Background' });
    await world.settle(8 * 60_000 + 2_000);
    expect((await world.worker('a').copy('sum'))?.metadata.annotations).toMatchObject({ 'switchyard.dev/dispatch-epoch': '5' });
    expect(await told('sum', 'Dispatched')).toBe('True Dispatched: dispatched to cluster "a" (placement 5)');
  });

  test('costs four calls besides what is told of it, and then none until its time has come', async () => {
    const calls = (): string[] => [...world.homeLine.sent, ...world.worker('a').line.sent].filter((call) => CALLS.test(call));
    for (const { sent } of [world.homeLine, world.worker('a').line]) sent.length = 0;
    await world.submit('sum');
    await world.settle(20_000);
    const first = calls();
    expect(first.filter((call) => !call.endsWith('/status')).toSorted()).toEqual([
      'GET /apis/batch/v1/namespaces/team/jobs/sum',
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum',
      'PATCH /apis/batch/v1/namespaces/team/jobs/sum',
      'POST /apis/batch/v1/namespaces/team/jobs',
    ]);
    expect(first.length).toBeLessThanOrEqual(8);
    await world.settle(35_000);
    expect(calls()).toHaveLength(first.length);
  });

  test('is remembered by the next manager', async () => {
    await world.submit('sum');
    await world.settle(2_000);
    await world.stop();
    await world.start();
    refused += tries();
    await world.settle(20_000);
    expect(tries()).toBe(0);
    await world.settle(60_000);
    expect(tries()).toBe(1);
  });

  test('keeps nobody else of its queue waiting', async () => {
    await world.submit('sum');
    await world.submit('other');
    await world.settle(2_000);
    expect(await world.worker('a').copy('other')).toBeDefined();
    expect(await told('sum', 'QuotaReserved')).toMatch(/^False NoClusterFits: a: refused it/);
  });
});
