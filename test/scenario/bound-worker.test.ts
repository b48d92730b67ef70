/**
 * Goal: a worker that its chart binds to two namespaces runs Jobs there with the rights that the chart renders, looks at no third, and goes
 * on in one where the other is taken from it.
 */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Job, Pod } from '../../shared/api/kubernetes.ts';
import { copyOfLogTails, logTailsName } from '../../shared/api/log-tails.ts';
import { DEFAULT_LEASE_NAMESPACE, ORIGIN_LABEL, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, PODS, type Resource } from '../../shared/api/resources.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { tailsNamespace } from '../../worker/config.ts';
import { createElectedWorker } from '../../worker/elected-worker.ts';
import type { Worker } from '../../worker/worker.ts';
import { workerConfig } from '../support/chart-config.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { renderChart } from '../support/helm.ts';
import { createLine, onLine, type Line } from '../support/line.ts';
import { applyAccess, RELEASE_NAMESPACE, userOf } from '../support/worker-under-rbac.ts';

const BOUND = 'config.namespaces={team-a,team-b}';
const TENANTS = ['team-a', 'team-b', 'team-c'];
const ROLES: Resource = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true };

let clock: FakeClock;
let cluster: EmbeddedCluster;
let line: Line;
let worker: Worker;
let registry: Registry;
let stop: () => Promise<void>;

/** Imagined pods write nothing: this is their log. */
const withLogs = (transport: Transport): Transport => ({
  ...transport,
  send: async (request) => {
    const answer = await transport.send(request);
    return answer.status === 200 && /\/pods\/[^/]+\/log\?/.test(request.path) ? { ...answer, body: 'it went wrong\n' } : answer;
  },
});

/** The program as the chart configures it, with the token of its account. */
async function start(...values: readonly string[]): Promise<void> {
  const config = workerConfig(BOUND, ...values);
  const client = createKubeClient(withLogs(onLine(cluster.plane.transport(userOf('test-switchyard-worker')), line, 'it')), {
    userAgent: 'switchyard-worker',
    clock,
  });
  const { name = '', leaseDurationMs = 0 } = config.leaderElection ?? {};
  registry = new Registry();
  worker = createElectedWorker({
    client,
    eventClient: client,
    election: { client, namespace: RELEASE_NAMESPACE, name, leaseDurationMs, identity: 'pod-1' },
    presence: { client, identity: 'pod-1', version: '1', settings: config },
    logs: { client, namespace: tailsNamespace(config), keepLogs: config.keepLogs, tailBytes: config.logTailBytes },
    registry,
    clock,
    random: seededRandom(3),
    log: silentLogger,
    settings: config,
  });
  const stopping = new AbortController();
  const running = worker.run(stopping.signal);
  stop = async () => {
    stopping.abort(new Error('the test is over'));
    await Promise.all([running, clock.advance(10_000)]);
  };
  await clock.advance(2_000);
}

const submit = (namespace: string, name: string, exitCode = 0, seconds = 2): Promise<Job> =>
  cluster.client.create(JOBS, {
    metadata: { namespace, name, labels: { [ORIGIN_LABEL]: 'home' } },
    spec: {
      managedBy: WORKER_CONTROLLER_NAME,
      backoffLimit: 1,
      template: {
        metadata: {
          annotations: { 'switchyard.dev/simulate-duration': `${seconds}s`, 'switchyard.dev/simulate-exit-code': String(exitCode) },
        },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
      },
    },
  });
const ended = async (namespace: string, name: string): Promise<string[]> =>
  ((await cluster.client.get(JOBS, { namespace, name })).status?.conditions ?? []).flatMap(({ type, status }) =>
    status === 'True' && ['Complete', 'Failed'].includes(type) ? [type] : [],
  );
/** `NAMESPACE/NAME` of the ends of logs that are kept. */
const tails = async (): Promise<string[]> =>
  (await cluster.client.list(CONFIG_MAPS)).items.flatMap(({ metadata: { name, namespace } }) =>
    copyOfLogTails(name) === undefined ? [] : [`${namespace}/${name}`],
  );
const podsOf = async (namespace: string): Promise<Pod[]> => (await cluster.client.list(PODS, { namespace })).items;
const unreadable = async (): Promise<number | undefined> =>
  (await registry.getSingleMetric('switchyard_worker_unreadable_namespaces')?.get())?.values[0]?.value;
/** `NAMESPACE: VERB RESOURCE` of what was sent, each once; '*' is all namespaces. */
const used = (): string[] =>
  [...new Set(line.sent.map(({ verb, resource, path }) => `${/\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '*'}: ${verb} ${resource}`))]
    .filter((each) => !each.startsWith('team-b: '))
    .toSorted();

beforeEach(async () => {
  clock = new FakeClock();
  cluster = await startCluster(clock, ['garbage-collector', 'namespace', 'node-agent']);
  for (const name of [RELEASE_NAMESPACE, DEFAULT_LEASE_NAMESPACE, ...TENANTS])
    await cluster.client.create(NAMESPACES, { metadata: { name } });
  await applyAccess(cluster.client, renderChart('worker', BOUND));
  line = createLine();
  await start();
});
afterEach(async () => {
  await stop();
  await cluster.plane.close();
});

test('it runs a Job to its end in each, keeps what failed, does nothing for a third, and is refused nothing', async () => {
  const failing = new Map<string, Job>();
  for (const namespace of TENANTS) {
    await submit(namespace, 'sum');
    failing.set(namespace, await submit(namespace, 'fails', 3));
    await submit(namespace, 'long', 0, 3_600);
  }
  await clock.advance(10_000);
  for (const namespace of TENANTS)
    await cluster.client.patch(JOBS, { namespace, name: 'long' }, { type: 'merge', body: { spec: { suspend: true } } });
  await clock.advance(60_000);
  const uidOf = (namespace: string): string => failing.get(namespace)?.metadata.uid ?? '';
  for (const namespace of ['team-a', 'team-b']) {
    expect([await ended(namespace, 'sum'), await ended(namespace, 'fails')]).toEqual([['Complete'], ['Failed']]);
    expect((await podsOf(namespace)).filter(({ metadata }) => metadata.labels?.['job-name'] === 'long')).toEqual([]);
  }
  expect([await podsOf('team-c'), await ended('team-c', 'sum')]).toEqual([[], []]);
  expect((await tails()).toSorted()).toEqual(
    ['team-a', 'team-b'].map((namespace) => `${DEFAULT_LEASE_NAMESPACE}/${logTailsName(uidOf(namespace))}`).toSorted(),
  );
  for (const namespace of TENANTS) await cluster.client.delete(JOBS, { namespace, name: 'fails' }, { propagationPolicy: 'Background' });
  await clock.advance(5_000);
  expect(await tails()).toEqual([]);
  expect(line.refused).toEqual([]);
  // A get of a Job and a patch of an Event come with pods that it adopts, and with Events that repeat themselves.
  expect(used()).toEqual([
    '*: list coordination.k8s.io/leases',
    'switchyard-system: create configmaps',
    'switchyard-system: create coordination.k8s.io/leases',
    'switchyard-system: delete configmaps',
    'switchyard-system: get coordination.k8s.io/leases',
    'switchyard-system: list configmaps',
    'switchyard-system: list coordination.k8s.io/leases',
    'switchyard-system: patch configmaps',
    'switchyard-system: update coordination.k8s.io/leases',
    'switchyard-system: watch coordination.k8s.io/leases',
    'switchyard: create coordination.k8s.io/leases',
    'switchyard: get coordination.k8s.io/leases',
    'switchyard: update coordination.k8s.io/leases',
    'team-a: create events',
    'team-a: create pods',
    'team-a: delete pods',
    'team-a: get pods/log',
    'team-a: list batch/jobs',
    'team-a: list pods',
    'team-a: patch pods',
    'team-a: update batch/jobs/status',
    'team-a: watch batch/jobs',
    'team-a: watch pods',
  ]);
  expect([worker.problem(), await unreadable()]).toEqual([undefined, 0]);
});

test('one that is taken from it while no worker runs holds up the other not, and has its Jobs run once it is given back', async () => {
  await submit('team-a', 'long', 0, 3_600);
  await clock.advance(5_000);
  expect(await podsOf('team-a')).toHaveLength(1);
  await stop();
  const role = { namespace: 'team-a', name: 'test-switchyard-worker-jobs' };
  await cluster.client.delete(ROLES, role);
  await start();
  for (const namespace of ['team-a', 'team-b']) await submit(namespace, 'sum');
  await clock.advance(30_000);
  expect([await ended('team-a', 'sum'), await ended('team-b', 'sum')]).toEqual([[], ['Complete']]);
  expect(await podsOf('team-a')).toHaveLength(1);
  expect([worker.problem(), await unreadable()]).toEqual([undefined, 1]);
  await applyAccess(cluster.client, renderChart('worker', BOUND));
  await clock.advance(60_000);
  expect([await ended('team-a', 'sum'), await ended('team-a', 'long')]).toEqual([['Complete'], []]);
  expect((await podsOf('team-a')).filter(({ metadata }) => metadata.labels?.['job-name'] === 'long')).toHaveLength(1);
  expect([worker.problem(), await unreadable()]).toEqual([undefined, 0]);
});

test('beside a manager of an earlier release it keeps ends of logs beside their copies, and where the Leases are once that is upgraded', async () => {
  await stop();
  const former = 'config.formerLeaseNamespace=kube-system';
  await applyAccess(cluster.client, renderChart('worker', BOUND, former));
  await start(former);
  const uids = { earlier: (await submit('team-a', 'earlier', 3)).metadata.uid, later: '' };
  await clock.advance(30_000);
  expect(await tails()).toEqual([`team-a/${logTailsName(uids.earlier)}`]);
  expect(line.refused).toEqual([]);
  await stop();
  await applyAccess(cluster.client, renderChart('worker', BOUND));
  await start();
  uids.later = (await submit('team-a', 'later', 3)).metadata.uid;
  await clock.advance(30_000);
  expect((await tails()).toSorted()).toEqual([
    `${DEFAULT_LEASE_NAMESPACE}/${logTailsName(uids.later)}`,
    `team-a/${logTailsName(uids.earlier)}`,
  ]);
  for (const name of ['earlier', 'later'])
    await cluster.client.delete(JOBS, { namespace: 'team-a', name }, { propagationPolicy: 'Background' });
  await clock.advance(10_000);
  expect([await tails(), line.refused]).toEqual([[], []]);
});
