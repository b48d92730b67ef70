/**
 * Goal: one command makes a cluster a worker cluster, with no more rights than the chart gives, says by named checks why not, and one takes
 * it out again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { readWorkerAccess } from '../../manager/dispatch/token/worker-access.ts';
import { workerAnnotations, workerLeaseName } from '../../shared/api/fence-leases.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_LABEL } from '../../shared/api/names.ts';
import { LEASES, NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis } from '../support/redis.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';
import { announceWorker, withoutWorkerLease } from '../support/worker-presence.ts';

const CLUSTER_ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};
const LIMIT_MS = 300_000;
let cli: CliWorld;
/** Has the manager cluster as its current context, and a context for each worker cluster. */
let kubeconfig: string;

beforeAll(async () => {
  cli = await createCliWorld(['east', 'west']);
  const files = [
    ['home', cli.kubeconfig],
    ['east', await cli.listen('east')],
    ['west', await cli.listen('west')],
  ] as const;
  const configs = files.map(([name, file]) => ({ name, config: parse(readFileSync(file, 'utf8')) }));
  kubeconfig = path.join(cli.folder, 'all.kubeconfig');
  const merged = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'home',
    clusters: configs.map(({ name, config }) => ({ ...config.clusters[0], name })),
    users: configs.map(({ name, config }) => ({ ...config.users[0], name })),
    contexts: configs.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
  writeFileSync(kubeconfig, stringify(merged));
}, LIMIT_MS);
const presences: { readonly stop: () => void }[] = [];
afterAll(() => {
  for (const presence of presences) presence.stop();
  return cli.close();
}, LIMIT_MS);

const names = async (): Promise<string[]> => (await cli.world.home.list(WORKER_CLUSTERS)).items.map(({ metadata }) => metadata.name);

test('a cluster leaves when its Jobs have moved, and its Secret goes with it', { timeout: LIMIT_MS }, async () => {
  await cli.world.submit('moves', { seconds: 100_000, annotations: { 'switchyard.dev/clusters': 'east,west' } });
  await cli.until(async () => (await cli.world.job('moves')).status?.active === 1);
  await cli.world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
  const refused = await cli.run(['clusters', 'leave', 'west'], { kubeconfig });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('write --yes to say so in advance') });
  await cli.world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec: { state: 'Active' } } });
  const { code, stdout } = await cli.run(['clusters', 'leave', 'west', '--yes'], { kubeconfig });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'west has left\nThe account of the manager is still there; --worker-context deletes it, too.\n',
  });
  expect(await names()).toEqual(['east']);
  expect((await cli.world.home.list(SECRETS, { namespace: 'switchyard' })).items.map(({ metadata }) => metadata.name)).not.toContain(
    'west',
  );
});

test('a manager cluster without definitions is named as that, and not the cluster that joins', { timeout: LIMIT_MS }, async () => {
  const { code, stderr } = await cli.run(['clusters', 'join', 'west', '--context', 'east'], { kubeconfig });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^switchyard clusters join: the manager cluster does not serve what was asked for/);
});

test('a cluster joins by one command, with an account that may do what the manager does and nothing else', {
  timeout: LIMIT_MS,
}, async () => {
  const { code, stdout, stderr } = await cli.run(['clusters', 'join', 'west', '-o', 'json'], { kubeconfig });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string; found: string }[] };
  expect(checks.map(({ check, result }) => `${check} ${result}`)).toEqual([
    'cluster ok',
    'version ok',
    'controller ok',
    'policy ok',
    // The clock of this world stands elsewhere than that of this machine, which is just what the check is for.
    'clock note',
    'token ok',
    'rights ok',
    'manager ok',
  ]);
  expect(await names()).toEqual(['east', 'west']);
});

test('what it was given is a kubeconfig that the manager takes', { timeout: LIMIT_MS }, async () => {
  const { data } = await cli.world.home.get(SECRETS, { namespace: 'switchyard', name: 'west-kubeconfig' });
  const text = Buffer.from(data?.['kubeconfig'] ?? '', 'base64').toString();
  expect(readWorkerAccess(text).credentials.token).toMatch(/^\S+$/);
  const client = createKubeClient(createHttpTransport(accessFromKubeconfig({ kind: 'text', yaml: text }, systemClock), silentLogger), {
    userAgent: 'test',
    clock: systemClock,
  });
  await expect(client.list(SECRETS)).rejects.toMatchObject({ code: 403 });
  await client.close();
});

test('the right to read logs of pods that run is given where that is asked for, and taken back where it is not', {
  timeout: LIMIT_MS,
}, async () => {
  const reads = async (): Promise<boolean> => {
    const role = await cli.world.client('west').get(CLUSTER_ROLES, { namespace: '', name: 'switchyard-manager-access' });
    return JSON.stringify(role).includes('"pods/log"');
  };
  expect(await reads()).toBe(false);
  const given = await cli.run(['clusters', 'join', 'west', '--live-logs'], { kubeconfig });
  expect(given).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {5}rights/m) });
  expect(await reads()).toBe(true);
  expect(await cli.run(['clusters', 'join', 'west'], { kubeconfig })).toMatchObject({ code: 0 });
  expect(await reads()).toBe(false);
});

test('the same command again renews the token; another name for the same cluster is refused, and so is the manager cluster', {
  timeout: LIMIT_MS,
}, async () => {
  const secret = async (): Promise<string | undefined> =>
    (await cli.world.home.get(SECRETS, { namespace: 'switchyard', name: 'west-kubeconfig' })).data?.['kubeconfig'];
  const before = await secret();
  const again = await cli.run(['clusters', 'join', 'west', '--token-life', '7h'], { kubeconfig });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {5}cluster +the one that has joined as west$/m) });
  expect(again.stdout).toMatch(/^ok {5}token +ends \d{4}-\d\d-\d\dT[\d:.]+Z; the manager renews it before that, while it runs$/m);
  expect(await secret()).not.toBe(before);

  const twice = await cli.run(['clusters', 'join', 'west', '--name', 'other'], { kubeconfig });
  expect(twice.code).toBe(1);
  expect(twice.stdout).toMatch(
    /^wrong {2}cluster +it has joined as west \(kube-system [-\w]+\) {2}-> write --name west to renew its token, or have it leave first$/m,
  );
  const itself = await cli.run(['clusters', 'join', 'home', '--name', 'self'], { kubeconfig });
  expect(itself).toMatchObject({ code: 1, stdout: expect.stringContaining('it is the manager cluster itself') });
  expect(await names()).toEqual(['east', 'west']);
});

test('a cluster whose worker runs all Jobs joins as such, and not as one whose worker runs the copies alone', {
  timeout: LIMIT_MS,
}, async () => {
  const west = cli.world.client('west');
  const controllerName = BUILT_IN_JOB_CONTROLLER_NAME;
  const key = { namespace: 'kube-system', name: workerLeaseName(controllerName) };
  await withoutWorkerLease(west);
  const annotations = workerAnnotations({
    controllerName,
    version: '1.2.3',
    fenceAfterSeconds: 60,
    fenceToken: 't',
    fencedKinds: [],
    renewalsSeen: new Map(),
  });
  await west.create(LEASES, {
    metadata: { ...key, labels: { [WORKER_LABEL]: 'true' }, annotations },
    spec: { holderIdentity: 'stand-in' },
  });
  const jobController = async (): Promise<string | undefined> =>
    (await cli.world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'west' })).spec.jobController;
  const before = await jobController();
  const refused = await cli.run(['clusters', 'join', 'west'], { kubeconfig });
  expect(refused.code).toBe(1);
  expect(refused.stdout.replace(/\s+/g, ' ')).toContain(
    `wrong controller the worker 1.2.3 there runs the Jobs of ${controllerName}, and would run no copy -> write --built-in-controller, or install it with`,
  );
  expect(await jobController()).toBe(before);
  const joined = await cli.run(['clusters', 'join', 'west', '--built-in-controller', '--timeout', '0s'], { kubeconfig });
  expect(joined).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ok +controller +the worker 1\.2\.3 has announced itself in place of/m),
  });
  expect(await jobController()).toBe(controllerName);
  await west.delete(LEASES, key);
  presences.push(await announceWorker(west, cli.world.clock));
});

test('a cluster that leaves with --worker-context leaves nothing behind there, and needs no list of namespaces for it', {
  timeout: LIMIT_MS,
}, async () => {
  const west = cli.world.client('west');
  for (const name of ['one', 'two']) await west.create(NAMESPACES, { metadata: { name } });
  const joined = await cli.run(['clusters', 'join', 'west', '--carry-namespaces', 'one,two'], { kubeconfig });
  expect(joined).toMatchObject({ code: 0 });
  const { code, stdout } = await cli.run(['clusters', 'leave', 'west', '--yes', '--worker-context', 'west', '-o', 'json'], { kubeconfig });
  expect(code).toBe(0);
  const carryNamespaces = ['one', 'two'];
  expect(JSON.parse(stdout)).toEqual({ cluster: 'west', result: 'left', accountDeleted: true, carryNamespaces, left: [] });
  for (const [group, plural] of [
    ['', 'serviceaccounts'],
    ['rbac.authorization.k8s.io', 'clusterroles'],
    ['rbac.authorization.k8s.io', 'clusterrolebindings'],
    ['rbac.authorization.k8s.io', 'roles'],
    ['rbac.authorization.k8s.io', 'rolebindings'],
    ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
    ['admissionregistration.k8s.io', 'validatingadmissionpolicybindings'],
  ] as const) {
    const { items } = await west.list({ group, version: 'v1', plural, kind: '', namespaced: false });
    expect(items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('switchyard-'))).toEqual([]);
  }
});

test('doctor looks at all of an installation, says what is wrong and what to do, and is content without every right', {
  timeout: LIMIT_MS,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const redis = await startRedis({ args: ['--appendonly', 'yes'] });
  stack.defer(() => redis.stop());
  const { code, stdout } = await cli.run(['doctor'], { kubeconfig, environment: { SWITCHYARD_REDIS_URL: redis.url } });
  expect(stdout).toMatch(/^ok +redis +127\.0\.0\.1:\d+ answers in \d+ ms: (Redis|Valkey) [\d.]+, master$/m);
  expect(stdout).toMatch(/^note +redis rights +it asks for no password/m);
  expect(stdout).toMatch(/^ok +redis eviction +maxmemory-policy noeviction$/m);
  expect(stdout).toMatch(/^ok +redis durability /m);
  expect(stdout).toMatch(/^ok +redis memory +[\d.]+ MiB used, no limit$/m);
  expect(stdout).toMatch(/^ok +version +v1\./m);
  expect(stdout).toMatch(/^ok +definitions +all \d+ are served$/m);
  expect(stdout).toMatch(/^ok +queues +1 ClusterQueues, 1 LocalQueues, all active$/m);
  expect(stdout).toMatch(/^note +cluster east +worker .* has not renewed its Lease since it was first looked at/m);
  expect(stdout).toMatch(/^wrong +validating webhook +none, and no admission policy/m);
  expect(code).toBe(1);
  const nowhere = 'redis://somebody:hunter2@127.0.0.1:1';
  const asJson = await cli.run(['doctor', '-o', 'json', '--redis-url', nowhere], { kubeconfig });
  expect(asJson.stdout).not.toContain('hunter2');
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    fine: false,
    checks: expect.arrayContaining([
      expect.objectContaining({ check: 'definitions', result: 'ok' }),
      expect.objectContaining({
        check: 'redis',
        result: 'wrong',
        alert: 'SwitchyardRedisUnreachable',
        remedy: expect.stringContaining('--redis-url'),
      }),
    ]),
  });
});
