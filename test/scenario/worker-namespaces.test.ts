/**
 * Goal: a manager that may work in some namespaces of a worker cluster works there, asks for nothing else, and says so to the Jobs of
 * others.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource, SECRETS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { renderChart } from '../support/helm.ts';
import { startHttpsWorker } from '../support/https-worker.ts';
import {
  ACCOUNT,
  applyAccess,
  startWorkerUnderRbac,
  type WorkerUnderRbac,
  type WorkerUnderRbacOptions,
} from '../support/worker-under-rbac.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const LIMIT_MS = 60_000;
const ROLES: Resource = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true };
/** Where Leases of earlier releases would be, the manager looks without a right to. */
const OF_FORMER_LEASES = /switchyard-origin-.* cannot get resource .*leases.* in the namespace .*kube-system/;
const TENANTS = ['team-a', 'team-b', 'team-c'];

/** Undefined where time is real and worker clusters are reached over HTTPS. */
let clock: FakeClock | undefined;
let world: DispatchWorld;
let workers: Map<string, WorkerUnderRbac>;

const worker = (name: string): WorkerUnderRbac => {
  const found = workers.get(name);
  if (found === undefined) throw new Error(`no worker ${name}`);
  return found;
};

const startWorker = (options: WorkerUnderRbacOptions): Promise<WorkerUnderRbac> =>
  clock === undefined ? startHttpsWorker(options) : startWorkerUnderRbac({ ...options, clock });

async function join(
  name: string,
  spec: object,
  values: readonly string[],
  namespaces: readonly string[] = TENANTS,
): Promise<WorkerUnderRbac> {
  const joined = await startWorker({ namespaces, values, identity: name });
  workers.set(name, joined);
  const kubeconfig = Buffer.from(joined.kubeconfig).toString('base64');
  await world.home.create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig } });
  const kubeconfigSecretRef = { namespace: 'switchyard', name };
  await world.home.create(WORKER_CLUSTERS, { metadata: { name }, spec: { kubeconfigSecretRef, ...spec } });
  if (clock !== undefined) await world.settle(2_000);
  await expect.poll(() => readiness(name), { timeout: LIMIT_MS }).toBe('True Connected');
  return joined;
}

const readiness = async (name: string): Promise<string> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name });
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
};

async function submit(namespace: string, name: string, cluster?: string): Promise<void> {
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }] },
  };
  const annotations: Record<string, string> = cluster === undefined ? {} : { [CLUSTERS_ANNOTATION]: cluster };
  const prepared = prepareJob(JOB_KIND, {
    metadata: { name, namespace, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations },
    spec: { template },
  });
  if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
  await world.home.create(JOBS, prepared.job);
}

const jobAt = (namespace: string, name: string): Promise<Job> => world.home.get(JOBS, { namespace, name });
const conditionAt = async (namespace: string, name: string, type: string): Promise<string> => {
  const found = (await jobAt(namespace, name)).status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const copiesOn = async (name: string): Promise<string[]> =>
  (await worker(name).client.list(JOBS)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted();

async function aWorld(): Promise<void> {
  workers = new Map();
  const connectCluster = (name: string, access: ClusterAccess): KubeClient => worker(name).connect(access);
  world = await createDispatchWorld({ workers: [], connectCluster, ...(clock === undefined ? { realTime: true } : { clock }) });
  for (const name of TENANTS) {
    await world.home.create(NAMESPACES, { metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted', team: name } } });
    await world.home.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: name }, spec: { clusterQueue: 'main' } });
  }
}
const onAClockThatStandsStill = (): Promise<void> => {
  clock = new FakeClock();
  return aWorld();
};
const overHttps = (): Promise<void> => {
  clock = undefined;
  return aWorld();
};
afterEach(async () => {
  await world.close();
  for (const each of workers.values()) await each.close();
});

const bound = ['managerAccess.namespaces={team-a,team-b}'];
const served = { servedNamespaces: ['team-a', 'team-b'] };

describe('a manager that is bound to two namespaces, over HTTPS with a token', { timeout: 2 * LIMIT_MS }, () => {
  beforeEach(overHttps, LIMIT_MS);

  test('runs, follows, suspends and deletes Jobs there, with no right too few and none too many', async () => {
    const { client, line } = await join('bound', served, bound);
    await submit('team-a', 'one');
    await submit('team-b', 'two');
    await expect.poll(() => copiesOn('bound'), { timeout: LIMIT_MS }).toEqual(['team-a/one', 'team-b/two']);
    const started = new Date(Date.now()).toISOString();
    await client.patchStatus(
      JOBS,
      { namespace: 'team-a', name: 'one' },
      { type: 'merge', body: { status: { active: 1, startTime: started } } },
    );
    await expect.poll(async () => (await jobAt('team-a', 'one')).status?.active, { timeout: LIMIT_MS }).toBe(1);
    await world.home.patch(JOBS, { namespace: 'team-a', name: 'one' }, { type: 'merge', body: { spec: { suspend: true } } });
    const suspended = async (): Promise<unknown> => (await client.get(JOBS, { namespace: 'team-a', name: 'one' })).spec.suspend;
    await expect.poll(suspended, { timeout: LIMIT_MS }).toBe(true);
    await world.home.delete(JOBS, { namespace: 'team-b', name: 'two' }, { propagationPolicy: 'Background' });
    await expect.poll(() => copiesOn('bound'), { timeout: LIMIT_MS }).toEqual(['team-a/one']);
    // The get and the list of pods prove that a running copy is gone: leaving the list may mean that only its label was edited, and its
    // pods may be left.
    const used = (): string[] => [...new Set(line.sent.map(({ verb, resource }) => `${verb} ${resource}`))].toSorted();
    await expect
      .poll(used, { timeout: LIMIT_MS })
      .toEqual([
        'create batch/jobs',
        'create coordination.k8s.io/leases',
        'delete batch/jobs',
        'get /version',
        'get batch/jobs',
        'get coordination.k8s.io/leases',
        'get namespaces',
        'list batch/jobs',
        'list coordination.k8s.io/leases',
        'list node.k8s.io/runtimeclasses',
        'list nodes',
        'list pods',
        'list scheduling.k8s.io/priorityclasses',
        'patch batch/jobs',
        'update coordination.k8s.io/leases',
        'watch batch/jobs',
        'watch coordination.k8s.io/leases',
        'watch node.k8s.io/runtimeclasses',
        'watch nodes',
        'watch scheduling.k8s.io/priorityclasses',
      ]);
    expect(line.refused.filter((each) => !OF_FORMER_LEASES.test(each))).toEqual([]);
    expect(line.sent.filter(({ path }) => path.includes('/batch/') && !/\/namespaces\/team-[ab]\/jobs/.test(path))).toEqual([]);
  });
});

describe('a manager that is bound to two namespaces', () => {
  beforeEach(onAClockThatStandsStill);

  test('leaves the Jobs of a third to other clusters, and tells those that want no other', async () => {
    await join('bound', served, bound);
    await submit('team-c', 'stuck', 'bound');
    const reason = 'False NoClusterFits: bound: does not serve namespace team-c';
    await world.settle(2_000);
    expect(await conditionAt('team-c', 'stuck', 'QuotaReserved')).toBe(reason);
    await join('open', {}, []);
    await submit('team-c', 'anywhere');
    await world.settle(2_000);
    expect(await copiesOn('open')).toEqual(['team-c/anywhere']);
    // One more cluster that does not take it is the same reason, and not told again.
    await world.settle(10_000);
    expect(await conditionAt('team-c', 'stuck', 'QuotaReserved')).toBe(reason);
    expect(await copiesOn('bound')).toEqual([]);

    // The list grows, and so do the rights.
    await worker('bound').close();
    workers.set('bound', await startWorker({ namespaces: TENANTS, identity: 'bound' }));
    const kubeconfig = Buffer.from(worker('bound').kubeconfig).toString('base64');
    await world.home.patch(SECRETS, { namespace: 'switchyard', name: 'bound' }, { type: 'merge', body: { data: { kubeconfig } } });
    await world.home.patch(
      WORKER_CLUSTERS,
      { namespace: '', name: 'bound' },
      { type: 'merge', body: { spec: { servedNamespaces: ['team-c'] } } },
    );
    await world.settle(2_000);
    expect(await copiesOn('bound')).toEqual(['team-c/stuck']);
    expect(await conditionAt('team-c', 'stuck', 'Dispatched')).toMatch(/^True Dispatched/);
  });

  test('that is taken off the list while a Job runs there has the Job say why nothing is heard of it, and what to do', async () => {
    await join('bound', served, bound);
    await submit('team-a', 'one');
    await world.settle(2_000);
    const serve = (...servedNamespaces: string[]) =>
      world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'bound' }, { type: 'merge', body: { spec: { servedNamespaces } } });
    const dispatched = () => conditionAt('team-a', 'one', 'Dispatched');
    await serve('team-b');
    await world.settle(3_000);
    const said =
      /^True Dispatched: .*; cluster "bound" no longer serves namespace "team-a" \(spec.servedNamespaces .*\), .*: put the namespace on the list again/;
    expect(await dispatched()).toMatch(said);
    // It is suspended: its quota is held, and it says so still.
    await world.home.patch(JOBS, { namespace: 'team-a', name: 'one' }, { type: 'merge', body: { spec: { suspend: true } } });
    await world.settle(3_000);
    expect(await dispatched()).toMatch(said);
    await serve('team-a', 'team-b');
    await world.settle(3_000);
    expect(await dispatched()).not.toMatch(said);
  });

  test('needs no right to list nodes where its capacity is given', async () => {
    const { line } = await join('bound', { ...served, capacity: { cpu: '1' } }, [...bound, 'managerAccess.nodes=false']);
    await submit('team-a', 'one');
    await world.settle(2_000);
    expect(await copiesOn('bound')).toEqual(['team-a/one']);
    await submit('team-b', 'two');
    await world.settle(2_000);
    expect(await conditionAt('team-b', 'two', 'QuotaReserved')).toBe('False NoClusterFits: bound: short of 1 cpu');
    expect(line.refused.filter((each) => !OF_FORMER_LEASES.test(each) && !/cannot list resource \\"nodes\\"/.test(each))).toEqual([]);
  });
});

describe('a namespace whose Role on the worker cluster its administrator deletes', () => {
  beforeEach(onAClockThatStandsStill);

  const role = { namespace: 'team-a', name: ACCOUNT };
  const wide = { ...served, capacity: { cpu: '10' } };
  /** In steps in which the worker renews its Lease. */
  const pass = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds; step += 5) await world.settle(5_000);
  };
  const takeRole = (): Promise<void> => worker('bound').client.delete(ROLES, role);
  const giveRole = (): Promise<void> => applyAccess(worker('bound').client, renderChart('worker', ...bound));
  const synced = async (): Promise<string> => {
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'bound' });
    const condition = status?.conditions?.find(({ type }) => type === 'Synced');
    return `${condition?.status} ${condition?.reason} ${status?.unreadableNamespaces?.join() ?? '-'}`;
  };
  const restartWithout = async (): Promise<void> => {
    await world.stop();
    await takeRole();
    await world.start();
    await pass(30);
  };

  test('is lost alone: the cluster is Ready and says so, Jobs of the others run, and those of that namespace wait with the reason', async () => {
    await join('bound', wide, bound);
    await restartWithout();
    expect([await readiness('bound'), await synced()]).toEqual(['True Connected', 'False NamespaceUnreadable team-a']);
    await submit('team-a', 'waits');
    await submit('team-b', 'runs');
    await world.settle(5_000);
    expect(await copiesOn('bound')).toEqual(['team-b/runs']);
    expect(await conditionAt('team-a', 'waits', 'QuotaReserved')).toBe(
      'False NoClusterFits: bound: does not let the manager list Jobs in namespace team-a',
    );
    await giveRole();
    await pass(90);
    expect([await readiness('bound'), await synced()]).toEqual(['True Connected', 'True Synced -']);
    expect(await copiesOn('bound')).toEqual(['team-a/waits', 'team-b/runs']);
  });

  test('leaves its running Jobs where they are, with the reason, until their end can be seen', async () => {
    await join('bound', wide, bound);
    await submit('team-a', 'runs');
    await world.settle(5_000);
    await restartWithout();
    expect(await conditionAt('team-a', 'runs', 'Dispatched')).toMatch(
      /^True Dispatched: .*cluster "bound" does not let the manager list Jobs in namespace "team-a": .*its quota is held$/,
    );
    // To be held, it would have to be known that nothing of it runs.
    await world.home.patch(JOBS, { namespace: 'team-a', name: 'runs' }, { type: 'merge', body: { spec: { suspend: true } } });
    await pass(60);
    expect(await conditionAt('team-a', 'runs', 'QuotaReserved')).toMatch(/quota is held until nothing runs any more$/);
    await world.home.delete(JOBS, { namespace: 'team-a', name: 'runs' }, { propagationPolicy: 'Background' });
    await world.settle(10_000);
    expect((await jobAt('team-a', 'runs')).metadata.deletionTimestamp).toBeDefined();
    await giveRole();
    await pass(120);
    await expect(jobAt('team-a', 'runs')).rejects.toThrow('not found');
    expect(await copiesOn('bound')).toEqual([]);
  });

  test('sends its Jobs to another cluster while the watch there is still open, though the name cannot be read either', async () => {
    await join('bound', wide, bound);
    await takeRole();
    await submit('team-a', 'moves');
    await world.settle(5_000);
    expect(await conditionAt('team-a', 'moves', 'Dispatched')).toMatch(/^False Refused: placement 1: cluster "bound" refused the Job: /);
    await join('open', { capacity: { cpu: '10' } }, []);
    await world.settle(5_000);
    expect([await copiesOn('open'), await copiesOn('bound')]).toEqual([['team-a/moves'], []]);
  });

  test('in all of them at once is a cluster that refuses the manager', async () => {
    await join('bound', { ...wide, servedNamespaces: ['team-a'] }, bound);
    await restartWithout();
    expect(await readiness('bound')).toBe('False Forbidden');
    await giveRole();
    await pass(90);
    expect(await readiness('bound')).toBe('True Connected');
  });
});

describe('a namespace that the manager denies', () => {
  beforeEach(onAClockThatStandsStill);

  test('has its Jobs wait with the flag as the reason, and others go ahead', async () => {
    await join('open', {}, [], [...TENANTS, 'kube-batch']);
    await world.home.create(NAMESPACES, { metadata: { name: 'kube-batch' } });
    await world.home.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: 'kube-batch' }, spec: { clusterQueue: 'main' } });
    await submit('kube-batch', 'denied');
    await submit('team-a', 'one');
    await world.settle(5_000);
    expect(await conditionAt('kube-batch', 'denied', 'QuotaReserved')).toBe(
      'False InvalidJob: metadata.namespace: is "kube-batch", which is denied by --denied-namespaces (kube-*); create the Job in another namespace, or ask an administrator to change that flag',
    );
    expect((await jobAt('kube-batch', 'denied')).spec.suspend).toBe(true);
    expect(await copiesOn('open')).toEqual(['team-a/one']);
  });
});

describe('a namespace that is missing on a cluster', () => {
  beforeEach(onAClockThatStandsStill);

  test('is made with the labels of the one at home that guard it, and with others that are named', async () => {
    const labels = async (name: string): Promise<object | undefined> =>
      (await worker(name).client.get(NAMESPACES, { namespace: '', name: 'team-a' })).metadata.labels;
    const create = ['managerAccess.createNamespaces=true'];
    await join('usual', { namespaces: 'Create' }, create, []);
    await submit('team-a', 'one', 'usual');
    await world.settle(2_000);
    expect(await copiesOn('usual')).toEqual(['team-a/one']);
    expect(await labels('usual')).toEqual({
      'kubernetes.io/metadata.name': 'team-a',
      'pod-security.kubernetes.io/enforce': 'restricted',
      'switchyard.dev/origin': 'm1',
    });
    await join('named', { namespaces: 'Create', namespaceLabels: ['team'] }, create, []);
    await submit('team-a', 'two', 'named');
    await world.settle(2_000);
    expect(await copiesOn('named')).toEqual(['team-a/two']);
    expect(await labels('named')).toEqual({ 'kubernetes.io/metadata.name': 'team-a', team: 'team-a', 'switchyard.dev/origin': 'm1' });
  });

  test('is not made unless the WorkerCluster says so, and the Job says what to do', async () => {
    await join('strict', {}, ['managerAccess.createNamespaces=true'], []);
    await submit('team-a', 'one', 'strict');
    await world.settle(2_000);
    expect(await conditionAt('team-a', 'one', 'Dispatched')).toMatch(
      /^False NamespaceMissing: placement \d+: namespace "team-a" does not exist on cluster "strict"; create it there, or set namespaces: Create in/,
    );
    expect(await conditionAt('team-a', 'one', 'QuotaReserved')).toMatch(
      /^False NoClusterFits: strict: refused it \(NamespaceMissing\), avoided until /,
    );
    const { items } = await worker('strict').client.list(NAMESPACES);
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('team-a');
  });

  test('and may not be made by the manager, is a refusal that says so', async () => {
    await join('forbidden', { namespaces: 'Create' }, [], []);
    await submit('team-a', 'one', 'forbidden');
    await world.settle(2_000);
    expect(await conditionAt('team-a', 'one', 'Dispatched')).toMatch(
      /^False NamespaceMissing: placement \d+: namespace "team-a" does not exist on cluster "forbidden" and may not be created there: /,
    );
  });
});
