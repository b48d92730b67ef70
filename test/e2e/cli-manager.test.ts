/**
 * Goal: a tenant with the role `view` in one namespace, and nothing else, learns by the program `switchyard` what the manager shows them;
 * an API server with RBAC, a manager as a process, and the real program with the tenant's own token.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { installKinds, publishManager } from '../../manager/cli/local/set-up.ts';
import { createHistory, podsEntry, recordEntries, tailEntry } from '../../manager/history/history.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import type { Job, KubeObject, Namespace } from '../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { switchyardHere } from '../support/switchyard-here.ts';
import { switchyard, type Outcome } from '../support/switchyard-process.ts';

const LIMIT_MS = 300_000;
const SERVICE_ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
const ROLE_BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
};
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-tenant-'));
const store = path.join(directory, 'history');
let cluster: ServerUnderTest;
let manager: ChildProgram;
let url = '';
/** kubeconfigs of ServiceAccounts of namespace team. */
const kubeconfigs = new Map<string, string>();

beforeAll(async () => {
  cluster = await startServerUnderTest();
  const { client } = cluster;
  await installKinds(client, process.cwd());
  for (const name of ['team', 'other']) await client.create(NAMESPACES, { metadata: { name } });
  for (const role of ['view', 'edit']) kubeconfigs.set(role, await kubeconfigOf(role));
  await createQueues();
  await keepHistory();
  manager = new ChildProgram('the manager', [
    process.execPath,
    'manager/main.ts',
    `--kubeconfig=${cluster.kubeconfigFile}`,
    '--api-bind-address=127.0.0.1:0',
    `--history-store=${store}`,
  ]);
  url = await manager.find((line) =>
    line.includes('submissions are taken over HTTP') ? /"url":"(http:[^"]+)"/.exec(line)?.[1] : undefined,
  );
  for (const [namespace, name] of [
    ['other', 'secret-plan'],
    ['team', 'train'],
    ['team', 'next'],
  ] as const)
    await createJob(namespace, name);
  await untilWaiting('team', 'next');
}, LIMIT_MS);
afterAll(async () => {
  await manager.stop();
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
}, LIMIT_MS);

/** Of a ServiceAccount with this role in namespace team. */
async function kubeconfigOf(role: string): Promise<string> {
  const { client } = cluster;
  await client.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'team', name: role } });
  await client.create(ROLE_BINDINGS, {
    metadata: { namespace: 'team', name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', namespace: 'team', name: role }],
  } as never);
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/team/serviceaccounts/${role}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const { token } = (JSON.parse(answer) as { status: { token: string } }).status;
  const { contexts, ...rest } = parse(cluster.kubeconfig) as { contexts: { name: string; context: object }[] };
  const [context] = contexts;
  const file = path.join(directory, `${role}.kubeconfig`);
  writeFileSync(
    file,
    stringify({
      ...rest,
      contexts: [{ name: context?.name, context: { ...context?.context, user: role, namespace: 'team' } }],
      users: [{ name: role, user: { token } }],
    }),
  );
  return file;
}

async function createQueues(): Promise<void> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => cluster.client.create(resource, object as never);
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const resources = [{ name: 'cpu', nominalQuota: '1' }];
  for (const name of ['main', 'foreign'])
    await create(CLUSTER_QUEUES, {
      metadata: { name },
      spec: { namespaceSelector: {}, resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources }] }] },
    });
  for (const namespace of ['team', 'other'])
    await create(LOCAL_QUEUES, { metadata: { namespace, name: 'batch' }, spec: { clusterQueue: 'main' } });
  await create(SECRETS, { metadata: { namespace: 'switchyard-system', name: 'east' }, data: {} });
  await create(WORKER_CLUSTERS, {
    metadata: { name: 'east' },
    spec: { capacity: { cpu: '4' }, kubeconfigSecretRef: { namespace: 'switchyard-system', name: 'east' } },
  });
}

/** Of a Job that is over and gone. */
async function keepHistory(): Promise<void> {
  const { uid } = (await cluster.client.get<Namespace>(NAMESPACES, { namespace: '', name: 'team' })).metadata;
  const opened = openSqliteStore(store);
  const history = createHistory(opened);
  const time = (ago: number): string => `${new Date(Date.now() - ago).toISOString().slice(0, 19)}Z`;
  await history.put([
    ...recordEntries({
      uid: 'u-nightly',
      namespace: 'team',
      namespaceUid: uid,
      name: 'nightly',
      outcome: 'Failed',
      reason: 'BackoffLimitExceeded',
      cluster: 'east',
      user: 'oidc:ann',
      requests: { cpu: '180', pods: '1' },
      admittedSeconds: 20,
      created: time(60_000),
      admitted: time(50_000),
      started: time(50_000),
      ended: time(30_000),
      succeeded: 0,
      failed: 1,
    }),
    podsEntry('u-nightly', {
      cluster: 'east',
      epoch: 1,
      copyUid: 'c1',
      pods: [{ pod: 'nightly-x', phase: 'Failed', exitCode: 3, container: 'main', lastLine: 'it went wrong', tail: true }],
    }),
    tailEntry('u-nightly', 'c1', 'nightly-x', gzipSync('one\nit went wrong\n')),
  ]);
  await opened.close();
}

const manifest = (namespace: string, name: string, labels: object = { [QUEUE_NAME_LABEL]: 'batch' }): Job =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name, labels },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '2' } } }] },
      },
    },
  }) as unknown as Job;
async function createJob(namespace: string, name: string): Promise<void> {
  const prepared = prepareJob(JOB_KIND, manifest(namespace, name));
  if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
  await cluster.client.create(JOBS, prepared.job);
}
async function untilWaiting(namespace: string, name: string): Promise<void> {
  const isTold = async (): Promise<boolean> =>
    findCondition((await cluster.client.get(JOBS, { namespace, name })).status?.conditions, 'QuotaReserved') !== undefined;
  while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** In this process, where the process itself is not what is looked at. */
const as = (role: string, ...args: readonly string[]): Promise<Outcome> =>
  switchyardHere(args, { kubeconfig: kubeconfigs.get(role) ?? '' });
const viewer = (...args: readonly string[]): Promise<Outcome> => as('view', ...args);

describe('before the cluster says where its manager is', { timeout: LIMIT_MS }, () => {
  test('explain says what the Job’s own conditions say, and that it does', async () => {
    const { code, stdout, stderr } = await viewer('explain', 'train');
    expect(stdout).toMatch(/^team\/train in queue batch: Waiting: /);
    expect(stdout).toMatch(/^ {2}QuotaReserved False: /m);
    expect(stderr).toMatch(
      /^you may not list workkinds.switchyard.dev, .*; no manager is named: give --server, .*; this is what the Job’s own conditions say\n$/,
    );
    expect(code).toBe(0);
  });

  test('queues names the right that is missing, and how to name a manager', async () => {
    const { code, stderr } = await viewer('queues');
    expect(stderr).toMatch(
      /^switchyard queues: the manager cluster refused: .*clusterqueues.*; no manager is named: give --server, or have ConfigMap kube-public\/switchyard-manager say where it is\n$/,
    );
    expect(code).toBe(1);
  });

  test('a ConfigMap that would have a token read on the way is not followed', async () => {
    const { client } = cluster;
    const key = { namespace: 'kube-public', name: 'switchyard-manager' };
    await publishManager(client, 'http://switchyard.example:8443');
    const { stderr } = await viewer('queues');
    expect(stderr).toMatch(/names "http:\/\/switchyard\.example:8443", which gets no token: it is not an https:\/\/ URL\n$/);
    await client.patch(CONFIG_MAPS, key, { type: 'merge', body: { data: { server: url } } });
  });
});

describe('a tenant with view in one namespace', { timeout: LIMIT_MS }, () => {
  test('is told why their Job waits, without names of others', async () => {
    const { code, stdout, stderr } = await switchyard(['explain', 'next'], { kubeconfig: kubeconfigs.get('view') ?? '' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^team\/next waits in cluster queue main, place [123] of 3, priority 0\. It asks\s+for\s+2 cpu, 1 pod\./);
    expect(stdout).toMatch(/flavor default, cpu: asks for 2, 1 free \(nominal 1\), short of 1/);
    expect(stdout).not.toContain('secret-plan');
  });

  test('sees the total of their queue, and no other queue', async () => {
    const { code, stdout, stderr } = await viewer('queues');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual(['NAME  COHORT  WAITING  ADMITTED  CPU', 'main  -       3        0         0/1', '']);
    const foreign = await viewer('queues', 'foreign');
    expect(foreign).toMatchObject({ code: 1, stderr: 'switchyard queues: there is no ClusterQueue foreign that you may see or use\n' });
  });

  test('sees their own share beside all that is used', async () => {
    const { code, stdout } = await viewer('top');
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        'QUEUE  ADMITTED  WAITING  CPU',
        'main   0/0       2/3      0/0',
        'Left of the slash: your LocalQueues; right of it: the whole ClusterQueue.',
        '',
      ],
    });
    const asJson = JSON.parse((await viewer('top', '-o', 'json')).stdout) as object;
    expect(asJson).toMatchObject({ by: 'queue', groups: [{ name: 'main', waiting: 2, all: { waiting: 3 } }] });
    const byNamespace = await viewer('top', '--by', 'namespace');
    expect(byNamespace.stdout).toMatch(/^team +0 +2$/m);
    expect(byNamespace.stderr).toContain('only Jobs of namespace team: you may not list those of all namespaces\n');
  });

  test('lists their Jobs and LocalQueues, without the right to see which other kinds there are', async () => {
    const { code, stdout, stderr } = await viewer('get');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^train +batch /m);
    expect(stderr).toMatch(/^only Jobs are shown: you may not list workkinds\.switchyard\.dev, /);
    expect((await viewer('get', 'queues')).stdout).toMatch(/^batch +main +2 /m);
    expect(await viewer('get', 'jobsets')).toMatchObject({ code: 1, stdout: '' });
  });

  test('is not told that there are no clusters where they may see none', async () => {
    const { stdout } = await viewer('explain', 'next');
    expect(stdout).toMatch(/^Clusters:\n {2}there are none that you may see\n/m);
  });

  test('is told where to look for a Job whose name was mistyped', async () => {
    const { stderr } = await viewer('explain', 'trian');
    expect(stderr).toMatch(/there is no Job trian in namespace team; switchyard get jobs -n team lists those that there are \(-A: /);
  });

  test('without the right to list LocalQueues is told to name one', async () => {
    const { code, stderr } = await viewer('run', '-n', 'other', '--image', 'busybox');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'switchyard run: --queue: you may not list the LocalQueues of namespace other; write the name of the one that you were given\n',
    });
  });

  test('sees names and states of clusters', async () => {
    const { code, stdout } = await viewer('clusters');
    expect({ code, stdout }).toEqual({
      code: 0,
      // What the manager knows of it by then.
      stdout: expect.stringMatching(/^NAME +STATE +VERSION\neast +(Not known yet|Not ready|Lost) +-\n$/) as string,
    });
    expect((await viewer('clusters', '-o', 'name')).stdout).toBe('workercluster.switchyard.dev/east\n');
    expect((await viewer('get', 'clusters', 'east')).stdout).toBe(stdout);
    expect((await viewer('get', 'clusters', 'west', '-o', 'name')).stdout).toBe('');
  });

  test('asks what if, of their own Jobs', async () => {
    const file = path.join(directory, 'more.yaml');
    writeFileSync(file, stringify(manifest('team', 'more')));
    const { code, stdout, stderr } = await viewer('what-if', '--submit', `${file}=2`, '--quota', 'main:default:cpu=+8');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^If\n {2}2 Jobs of \S+more\.yaml, document 1 were submitted\n {2}quota main:default:cpu=\+8\nthen, once all suspended Jobs have stopped,/,
    );
    expect(stdout).toMatch(/^ {2}team\/more-1: Submitted: waits/m);
    expect(stdout).not.toContain('secret-plan');
    const hidden = await viewer('what-if', '--quota', 'foreign:default:cpu=9');
    expect(hidden).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no ClusterQueue foreign that you may see') as string,
    });
    const whole = await viewer('what-if', '--remove', 'cluster/east');
    expect(whole).toMatchObject({ code: 1, stderr: expect.stringContaining('the manager does not try this for others') as string });
  });

  test('who tries a submission is told what asks the manager where it would run', async () => {
    const file = path.join(directory, 'tried.yaml');
    writeFileSync(file, stringify(manifest('team', 'tried')));
    const { code, stderr } = await as('edit', 'submit', file, '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^All of them would be accepted\. Where they would run .*; switchyard what-if --submit FILE asks the manager\n$/,
    );
  });

  test('reads the history of their namespace, and of no other', async () => {
    const { code, stdout } = await viewer('history', '--outcome', 'Failed', '--since', '1h');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^nightly +Failed +east/m);
    const one = await viewer('history', 'nightly', '-o', 'json');
    expect(JSON.parse(one.stdout)).toMatchObject({ items: [{ name: 'nightly', copies: [{ pods: [{ exitCode: 3 }] }] }] });
    const other = await viewer('history', '-n', 'other');
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('refused') as string });
  });

  test('sums up what Jobs of their namespace used, by user, and not those of another', async () => {
    const { code, stdout } = await viewer('report', '--by', 'user');
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: ['USER      JOBS  FAILED  HOURS  CPU-HOURS  PODS-HOURS', 'oidc:ann  1     1       0.01   1          0.01', ''],
    });
    expect((await viewer('report', '--by', 'cluster', '-o', 'csv')).stdout).toMatch(/^cluster,jobs,.*\r\neast,1,1,0\.01,1,0\.01\r\n$/);
    const asOperator = await viewer('report', '--by', 'namespace', '-A', '-o', 'json', '--history-store', store);
    expect(JSON.parse(asOperator.stdout)).toMatchObject({ by: 'namespace', rows: [{ name: 'team', jobs: 1, failed: 1 }] });
    expect(await viewer('report', '--to', '2020-01-01', '--history-store', store)).toMatchObject({
      code: 0,
      stdout: 'No Job that has ended was admitted then.\n',
    });
    expect(await viewer('report', '-n', 'other')).toMatchObject({ code: 1, stderr: expect.stringContaining('refused') as string });
    expect(await viewer('report', '-A')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--all-namespaces: the manager shows one namespace') as string,
    });
    expect(await viewer('report', '--from', '2026-02-01', '--to', '2026-01-01')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--to: must be later than --from') as string,
    });
  });

  test('reads the logs of a Job that is gone', async () => {
    const { code, stdout, stderr } = await viewer('logs', 'nightly');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one\nit went wrong\n' });
    expect(stderr).toMatch(/ended with exit code 3: it went wrong\n$/);
    expect(await viewer('logs', 'never')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no Job team/never') as string,
    });
  });

  test('is told what is missing where the label of a queue is', async () => {
    await cluster.client.create(JOBS, manifest('team', 'unlabelled', {}) as never);
    const { code, stderr } = await viewer('explain', 'unlabelled');
    expect(code).toBe(1);
    expect(stderr).toMatch(/it has no label switchyard\.dev\/queue-name, so it runs here, in no queue\. Write the label/);
    const page = await shown('view', '/api/v1/namespaces/team/jobs/unlabelled');
    expect(page).toMatchObject({
      code: 404,
      message: expect.stringContaining('created without the label switchyard.dev/queue-name') as string,
    });
  });

  test('with a client certificate is told what to do about the token', async () => {
    const { code, stderr } = await switchyard(['queues', '--server', url], { kubeconfig: cluster.kubeconfigFile });
    const { users } = parse(cluster.kubeconfig) as { users: readonly { user: object }[] };
    if (JSON.stringify(users).includes('token')) return expect(code).toBe(0);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/--token-file: the kubeconfig has no token, .*kubectl create token NAME/) as string,
    });
  });

  test('is refused by a server that cannot be reached, which they have named', async () => {
    const { code, stderr } = await viewer('queues', '--server', 'http://127.0.0.1:1');
    expect(code).toBe(3);
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:1 cannot be reached/);
  });
});

async function shown(role: string, asked: string): Promise<Record<string, unknown>> {
  const { users } = parse(readFileSync(kubeconfigs.get(role) ?? '', 'utf8')) as {
    users: readonly { user: { token: string } }[];
  };
  const response = await fetch(`${url}${asked}`, { headers: { authorization: `Bearer ${users[0]?.user.token}` } });
  return (await response.json()) as Record<string, unknown>;
}

describe('the commands that pages offer', { timeout: LIMIT_MS }, () => {
  type Offers = { readonly commands: readonly { readonly does: string; readonly line: string }[] };
  /** As pasted into a shell whose kubeconfig is that of the tenant. */
  async function paste(job: string): Promise<string[]> {
    const { commands } = (await shown('edit', `/api/v1/namespaces/team/jobs/${job}`)) as Offers;
    for (const { line } of commands) {
      const [program, ...args] = line.split(' ');
      expect(program).toBe('switchyard');
      const { code, stderr } = await as('edit', ...args);
      expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
    }
    return commands.map(({ does }) => does);
  }

  test('work for Jobs that wait, are held, and are gone', async () => {
    expect(await paste('nightly')).toEqual(['history']);
    // Each is run in the order of the page: the last one cancels.
    expect(await paste('next')).toEqual(['explain', 'hold', 'cancel']);
    await as('edit', 'hold', 'train');
    while (((await shown('edit', '/api/v1/namespaces/team/jobs/train')) as { line?: { state?: string } }).line?.state !== 'Held')
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await paste('train')).toEqual(['explain', 'release', 'cancel']);
  });
});
