/**
 * Goal: docs/joining.md, "Who runs the copies", on real API servers, with the Job controller of kube-controller-manager: each row runs a
 * Job from home to its end, and one that takes longer than the fence. And a PriorityClass that a worker cluster lacks, where its API server
 * refuses pods for that. test/scenario/job-controllers.test.ts and priority-class-there.test.ts play the same, and more, on a clock that
 * stands still.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { PRIORITY_CLASSES } from '../../manager/api/priority-class.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { installKinds, joinCluster } from '../../manager/cli/local/set-up.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startRealEtcd } from '../support/real-control-plane.ts';
import { areControllersReal, type ServerOptions, type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const LIMIT_MS = 300_000;
const FENCE_SECONDS = 15;
/** A fence lasts five renewals. */
const RENEW_SECONDS = 3;
const NAMESPACE = 'team';
const CONTROLLERS = ['garbage-collector', 'namespace', 'pod-gc', 'node-agent'] as const;
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const UPSTREAM = 'kube-controller-manager';
const patience = { timeout: 120_000, interval: 200 };

/**
 * A row of the table: what upstream runs on the cluster, how its WorkerCluster says that, the flags of its worker if it has one, and which
 * program makes the pods of copies.
 */
type Row = {
  readonly cluster: string;
  readonly way: string;
  readonly upstream: readonly string[];
  readonly spec: object;
  readonly worker?: readonly string[];
  readonly podsOf: string;
};
const inItsPlace = { jobController: BUILT_IN_JOB_CONTROLLER_NAME };
const ROWS: readonly Row[] = [
  {
    cluster: 'beside',
    way: 'a worker beside the built-in Job controller',
    upstream: ['job-controller'],
    spec: {},
    worker: [],
    podsOf: 'switchyard-worker',
  },
  {
    cluster: 'in-place',
    way: 'a worker in place of the built-in Job controller',
    upstream: [],
    spec: inItsPlace,
    worker: [`--controller-name=${BUILT_IN_JOB_CONTROLLER_NAME}`],
    podsOf: 'switchyard-worker',
  },
  { cluster: 'alone', way: 'the built-in Job controller alone', upstream: ['job-controller'], spec: inItsPlace, podsOf: UPSTREAM },
];

describe.runIf(areControllersReal())('with the controllers of kube-controller-manager', { timeout: LIMIT_MS }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-upstream-'));
  const resources = new AsyncDisposableStack();
  const clusters = new Map<string, ServerUnderTest>();
  const lines: string[] = [];
  let home: ServerUnderTest['client'];

  const startProgram = (name: string, main: string, flags: readonly string[]): void => {
    const program = resources.use(new ChildProgram(name, [process.execPath, path.join(ROOT, main), ...flags]));
    program.onLine((line) => void lines.push(`${name}: ${line}`));
  };
  const on = (cluster: string): ServerUnderTest['client'] => {
    const server = clusters.get(cluster);
    if (server === undefined) throw new Error(`there is no cluster ${cluster}`);
    return server.client;
  };

  beforeAll(async () => {
    const etcd = resources.use(await startRealEtcd());
    const startServer = async (name: string, options: Omit<ServerOptions, 'name' | 'etcd'>): Promise<ServerUnderTest> => {
      const server = await startServerUnderTest({ ...options, name, etcd });
      resources.defer(() => server.close());
      return server;
    };
    const homeServer = await startServer('home', {});
    home = homeServer.client;
    await installKinds(home, ROOT);
    await home.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await home.create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
    await makeQueue('main', '10');
    await makeQueue('narrow', '1', { preemption: { withinClusterQueue: 'LowerPriority' } });
    for (const { cluster, upstream, spec, worker } of ROWS) {
      const server = await startServer(cluster, { controllers: CONTROLLERS, upstream, nodeDir: path.join(directory, cluster) });
      clusters.set(cluster, server);
      await joinCluster(home, cluster, server.kubeconfig);
      await home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { spec } });
      if (worker === undefined) continue;
      const flags = [`--kubeconfig=${server.kubeconfigFile}`, `--fence-after=${FENCE_SECONDS}s`, ...worker];
      startProgram(`worker of ${cluster}`, 'worker/main.ts', flags);
    }
    const flags = [`--kubeconfig=${homeServer.kubeconfigFile}`, `--fence-renew-interval=${RENEW_SECONDS}s`];
    startProgram('manager', 'manager/main.ts', flags);
  }, LIMIT_MS);
  afterAll(async () => {
    await resources.disposeAsync();
    rmSync(directory, { recursive: true, force: true });
  }, LIMIT_MS);

  async function makeQueue(name: string, nominalQuota: string, more: object = {}): Promise<void> {
    const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota }] }] }];
    await home.create(CLUSTER_QUEUES, { metadata: { name }, spec: { namespaceSelector: {}, resourceGroups, ...more } });
    await home.create(LOCAL_QUEUES, { metadata: { name, namespace: NAMESPACE }, spec: { clusterQueue: name } });
  }

  const startsFile = (name: string): string => path.join(directory, `${name}.starts`);
  const submit = async (
    name: string,
    cluster: string,
    { seconds = 0, queue = 'main', priorityClassName }: { seconds?: number; queue?: string; priorityClassName?: string } = {},
  ): Promise<void> => {
    const command = ['/bin/sh', '-c', `echo start >> ${startsFile(name)}; sleep ${seconds}`];
    const containers = [{ name: 'main', image: 'busybox', command, resources: { requests: { cpu: '1' } } }];
    const spec = { restartPolicy: 'Never' as const, terminationGracePeriodSeconds: 1, containers, ...omitUndefined({ priorityClassName }) };
    const labels = { [QUEUE_NAME_LABEL]: queue };
    const annotations = { [CLUSTERS_ANNOTATION]: cluster };
    await home.create(
      JOBS,
      JOB_KIND.prepared({ metadata: { name, namespace: NAMESPACE, labels, annotations }, spec: { template: { spec } } }),
    );
  };
  const job = (name: string): Promise<Job> => home.get(JOBS, { namespace: NAMESPACE, name });
  const isComplete = async (name: string): Promise<boolean> => hasTrueCondition((await job(name)).status?.conditions, 'Complete');
  /** The programs that have written the pods there, other than the kubelet. */
  const makersOn = async (cluster: string, namespace = NAMESPACE): Promise<string[]> => {
    const { items } = await on(cluster).list(PODS, { namespace });
    return items.map(({ metadata }) => (metadata.managedFields?.[0] as { manager: string } | undefined)?.manager ?? '');
  };

  test.for(ROWS.map((row) => [row.way, row] as const))('%s runs a Job to its end, and one after the time of a fence', async ([, row]) => {
    const { cluster, podsOf } = row;
    onTestFailed(() => console.error(lines.slice(-40).join('\n')));
    const long = `long-${cluster}`;
    await submit(`short-${cluster}`, cluster);
    await expect.poll(() => isComplete(`short-${cluster}`), patience).toBe(true);
    await submit(long, cluster, { seconds: 2 * FENCE_SECONDS });
    await expect.poll(() => makersOn(cluster), patience).toContain(podsOf);
    await expect.poll(() => isComplete(long), patience).toBe(true);
    expect(readFileSync(startsFile(long), 'utf8')).toBe('start\n');
    const { status } = await home.get(WORKER_CLUSTERS, { namespace: '', name: cluster });
    expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
    await expect.poll(async () => (await on(cluster).list(JOBS)).items.length, patience).toBe(0);
  });

  test('beside a worker the built-in Job controller runs the Jobs of others', async () => {
    const metadata = { namespace: 'default', name: 'local' };
    const containers = [{ name: 'main', image: 'busybox', command: ['true'] }];
    await on('beside').create(JOBS, { metadata, spec: { template: { spec: { restartPolicy: 'Never', containers } } } });
    await expect.poll(async () => (await on('beside').get(JOBS, metadata)).status?.succeeded, patience).toBe(1);
    expect(await makersOn('beside', metadata.namespace)).toEqual([UPSTREAM]);
  });

  test('a Job whose PriorityClass the worker cluster lacks waits with the reason, and preempts once the class is there', async () => {
    onTestFailed(() => console.error(lines.slice(-40).join('\n')));
    await home.create(PRIORITY_CLASSES, { metadata: { name: 'urgent' }, value: 1000 });
    await submit('running', 'beside', { seconds: 600, queue: 'narrow' });
    await expect.poll(() => makersOn('beside'), patience).toContain('switchyard-worker');
    await submit('urgent', 'beside', { queue: 'narrow', priorityClassName: 'urgent' });
    const reason = async (): Promise<string | undefined> =>
      findCondition((await job('urgent')).status?.conditions, 'QuotaReserved')?.message;
    await expect.poll(reason, patience).toContain('beside: no PriorityClass urgent');
    expect((await job('running')).spec.suspend).toBe(false);
    await on('beside').create(PRIORITY_CLASSES, { metadata: { name: 'urgent' }, value: 1000 });
    await expect.poll(() => isComplete('urgent'), patience).toBe(true);
    expect(findCondition((await job('running')).status?.conditions, 'Preempted')).toBeDefined();
  });
});

test.runIf(!areControllersReal())('the rows of docs/joining.md on real API servers', ({ skip }) =>
  skip('KUBEBUILDER_ASSETS names no directory with kube-controller-manager'),
);
