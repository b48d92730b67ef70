/**
 * Submissions over HTTP: a manager as a process with `--api-bind-address`, an API server with RBAC, a real Redis, two tenants with the
 * tokens of ServiceAccounts, and clients that misbehave.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { installKinds } from '../../manager/cli/local/set-up.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { actsOn } from '../../manager/api/job-acts.ts';
import { QUEUE_NAME_LABEL, SUBMISSION_ANNOTATION, SUBMITTED_BY_ANNOTATION } from '../../shared/api/names.ts';
import { CONFIG_MAPS, EVENTS, JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { switchyard } from '../support/switchyard-process.ts';

const RBAC = 'rbac.authorization.k8s.io';
const SERVICE_ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
const rbac = (kind: string, plural: string): Resource => ({ group: RBAC, version: 'v1', plural, kind, namespaced: true });
const manifest = (metadata: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { generateName: 'sum-', labels: { [QUEUE_NAME_LABEL]: 'main' }, ...metadata },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
});

/** Of Redis: it is in the file of the URL alone. */
const PASSWORD = 'of-the-file';
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-api-'));
let cluster: ServerUnderTest;
let redis: TestRedis;
let manager: ChildProgram;
let url = '';
const tokens = new Map<string, string>();

beforeAll(async () => {
  redis = await startRedis({ args: ['--requirepass', PASSWORD], client: { password: PASSWORD } });
  cluster = await startServerUnderTest();
  const { kubeconfig } = cluster;
  const urlFile = path.join(directory, 'redis-url');
  writeFileSync(urlFile, `${redis.url.replace('//', `//:${PASSWORD}@`)}\n`, { mode: 0o600 });
  const file = path.join(directory, 'kubeconfig');
  writeFileSync(file, kubeconfig);
  await installKinds(cluster.client, process.cwd());
  for (const tenant of ['team', 'rich']) await createTenant(tenant);
  manager = new ChildProgram('the manager', [
    process.execPath,
    'manager/main.ts',
    `--kubeconfig=${file}`,
    `--redis-url-file=${urlFile}`,
    '--submission-queue=',
    '--carry-namespaces=team',
    '--api-bind-address=127.0.0.1:0',
    `--audit-log=${path.join(directory, 'audit.log')}`,
    `--history-store=${path.join(directory, 'history')}`,
  ]);
  url = await manager.find((line) =>
    line.includes('submissions are taken over HTTP') ? /"url":"(http:[^"]+)"/.exec(line)?.[1] : undefined,
  );
}, 120_000);
afterAll(async () => {
  await manager.stop();
  await cluster.close();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** A queue, a ServiceAccount that may create Jobs, and one whose token programs have that submit. */
async function createTenant(namespace: string): Promise<void> {
  const { client } = cluster;
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const role = async (name: string, account: string, ...rules: readonly object[]): Promise<void> => {
    await client.create(SERVICE_ACCOUNTS, { metadata: { namespace, name: account } });
    await client.create(rbac('Role', 'roles'), { metadata: { namespace, name }, rules } as never);
    await client.create(rbac('RoleBinding', 'rolebindings'), {
      metadata: { namespace, name },
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
    } as never);
  };
  await role(
    'create-jobs',
    'creator',
    { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  );
  await role('submit', 'submitter', {
    apiGroups: ['switchyard.dev'],
    resources: ['submissionqueues/submissions'],
    verbs: ['create', 'get', 'delete'],
  });
  await client.create(rbac('Role', 'roles'), {
    metadata: { namespace, name: 'read-jobs' },
    rules: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['get'] }],
  } as never);
  await client.create(rbac('RoleBinding', 'rolebindings'), {
    metadata: { namespace, name: 'read-jobs' },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'read-jobs' },
    subjects: [{ kind: 'ServiceAccount', namespace, name: 'submitter' }],
  } as never);
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/submitter/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  tokens.set(namespace, (JSON.parse(answer) as { status: { token: string } }).status.token);
  await client.create(SUBMISSION_QUEUES, { metadata: { namespace, name: 'batch' }, spec: { serviceAccountName: 'creator' } } as never);
}

type Call = { readonly as?: string; readonly of?: string; readonly body?: unknown; readonly headers?: Record<string, string> };
const pathOf = (key: string, of = 'team'): string =>
  `/apis/submissions/v1/namespaces/${of}/queues/batch/submissions${key === '' ? '' : `/${key}`}`;
async function call(
  method: string,
  key: string,
  { as = 'team', of = 'team', body, headers = {} }: Call = {},
): Promise<{ status: number; json: Record<string, unknown>; headers: Headers }> {
  const response = await fetch(url + pathOf(key, of), {
    method,
    headers: { 'content-type': 'application/json', ...(as === '' ? {} : { authorization: `Bearer ${tokens.get(as) ?? as}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown>, headers: response.headers };
}

/** The events of a submission until it has ended, or until `enough`. */
async function eventsOf(
  key: string,
  { lastEventId, enough = () => false }: { lastEventId?: string; enough?: (data: string) => boolean } = {},
) {
  const response = await fetch(`${url}${pathOf(key)}/events`, {
    headers: { authorization: `Bearer ${tokens.get('team')}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
  });
  const events: { id: string; event: string; data: Record<string, unknown> }[] = [];
  let text = '';
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, id = '', event = '', data = '{}'] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event !== '') events.push({ id, event, data: JSON.parse(data) as Record<string, unknown> });
      // Leaving the loop closes the connection.
      if (event !== '' && enough(data)) return events;
    }
  }
  return events;
}

describe('somebody with the right token', () => {
  test('brings a ConfigMap, which the ServiceAccount of the queue creates beside the Job', { timeout: 60_000 }, async () => {
    const container = { name: 'main', image: 'busybox', envFrom: [{ configMapRef: { name: 'settings' } }] };
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } };
    const attachments = [{ name: 'settings', data: { rate: '0.1' } }];
    const body = { manifest: { ...manifest({ name: 'attached' }), spec }, attachments };
    expect(await call('POST', 'attached', { body: { ...body, attachments: [{ name: 'Settings' }] } })).toMatchObject({
      status: 422,
      json: { reason: 'Invalid', message: expect.stringContaining('attachments[0].name: a lowercase RFC 1123 subdomain') },
    });
    expect(await call('POST', 'attached', { body })).toMatchObject({ status: 201 });
    expect(await call('POST', 'attached', { body })).toMatchObject({ status: 200 });
    const other = { ...body, attachments: [{ name: 'settings', data: { rate: '0.2' } }] };
    expect(await call('POST', 'attached', { body: other })).toMatchObject({ status: 409 });
    const made = async () => (await cluster.client.list(CONFIG_MAPS, { namespace: 'team' })).items.filter(({ immutable }) => immutable);
    await expect.poll(async () => (await made()).length, { timeout: 30_000 }).toBe(1);
    const job = await cluster.client.get(JOBS, { namespace: 'team', name: 'attached' });
    expect(await made()).toMatchObject([
      {
        metadata: { name: expect.stringMatching(/^settings-[0-9a-f]{12}$/), ownerReferences: [{ uid: job.metadata.uid }] },
        data: { rate: '0.1' },
      },
    ]);
    expect(await call('DELETE', 'attached')).toMatchObject({ status: 200, json: { cancelled: true } });
    await expect.poll(async () => (await made()).length, { timeout: 30_000 }).toBe(0);
  });

  test('submits, follows what becomes of it, and cancels: the Job is gone', { timeout: 60_000 }, async () => {
    const made = await call('POST', 'nightly-1', { body: { manifest: manifest({ name: 'sum-1' }), options: { priority: 3 } } });
    expect(made).toMatchObject({ status: 201, json: { key: 'nightly-1' } });
    expect(made.headers.get('location')).toBe(pathOf('nightly-1'));
    expect(await call('POST', 'nightly-1', { body: { manifest: manifest({ name: 'sum-1' }), options: { priority: 3 } } })).toMatchObject({
      status: 200,
    });
    const other = await call('POST', 'nightly-1', { body: manifest({ name: 'sum-2' }) });
    expect(other).toMatchObject({ status: 409, json: { kind: 'Status', reason: 'Conflict', code: 409 } });

    const waits = await eventsOf('nightly-1', { enough: (data) => data.includes('"Queued"') });
    expect(waits.at(-1)).toMatchObject({
      event: 'progress',
      data: { key: 'nightly-1', state: 'Accepted', progress: { phase: 'Queued', active: 0 } },
    });
    expect(await cluster.client.get(JOBS, { namespace: 'team', name: 'sum-1' })).toMatchObject({ spec: { suspend: true } });

    const [rest, cancelled] = await Promise.all([
      eventsOf('nightly-1', { lastEventId: waits.at(-1)?.id ?? '' }),
      call('DELETE', 'nightly-1'),
    ]);
    expect(cancelled).toMatchObject({ status: 200, json: { cancelled: true } });
    // What was seen is not told again.
    expect(rest.map(({ id }) => id)).not.toContain(waits.at(-1)?.id);
    expect(rest.at(-1)).toMatchObject({ event: 'ended', data: { state: 'Failed', failure: { code: 'Cancelled' } } });
    expect(await call('GET', 'nightly-1')).toMatchObject({ status: 200, json: { state: 'Failed', failure: { code: 'Cancelled' } } });
    const left = await cluster.client.list(JOBS, { namespace: 'team' });
    expect(left.items.filter(({ metadata }) => metadata.name === 'sum-1' && metadata.deletionTimestamp === undefined)).toEqual([]);
  });

  test('gets a key where none is given, and hears why a manifest is refused', { timeout: 60_000 }, async () => {
    const { status, json } = await call('POST', '', { body: manifest({ namespace: 'kube-system' }) });
    expect(status).toBe(201);
    const events = await eventsOf(String(json['key']));
    expect(events.at(-1)).toMatchObject({ event: 'ended', data: { state: 'Failed', failure: { code: 'Forbidden' } } });
  });
});

const submitterOf = (namespace: string): string => `system:serviceaccount:${namespace}:submitter`;

test('who submitted, cancelled, or tried to, stands in the audit log', async () => {
  const ask = (method: string, as: string) =>
    call(method, 'audited', { as, of: 'team', ...(method === 'POST' ? { body: manifest() } : {}) });
  expect([(await ask('POST', 'team')).status, (await ask('DELETE', 'rich')).status, (await ask('DELETE', '')).status]).toEqual([
    201, 403, 401,
  ]);
  expect((await ask('DELETE', 'team')).status).toBe(200);
  type Line = { log: string; who: { user: string | null }; what: string; on: { name: string }; outcome: string; from: { door: string } };
  const read = (): Line[] =>
    readFileSync(path.join(directory, 'audit.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  const lines = (): string[] =>
    read()
      .filter(({ on }) => on.name === 'batch/audited')
      .map(({ log, who, what, outcome, from }) => [log, from.door, who.user, what, outcome].join(' '));
  await expect
    .poll(lines)
    .toEqual([
      `audit http ${submitterOf('team')} submit Done`,
      `audit http ${submitterOf('rich')} cancel Refused`,
      'audit http  cancel Refused',
      `audit http ${submitterOf('team')} cancel Done`,
    ]);
});

test('who submitted stands on the Job, in an Event and in history, and whoever may write to Redis puts no name there', {
  timeout: 120_000,
}, async () => {
  const jobOf = async (key: string): Promise<Job> => {
    let found: Job | undefined;
    await expect
      .poll(
        async () => {
          const { items } = await cluster.client.list(JOBS, { namespace: 'team' });
          found = items.find(({ metadata }) => metadata.annotations?.[SUBMISSION_ANNOTATION] === key);
          return found !== undefined;
        },
        { timeout: 60_000 },
      )
      .toBe(true);
    return found as Job;
  };
  expect(await call('POST', 'by-name', { body: manifest({ annotations: { [SUBMITTED_BY_ANNOTATION]: 'root' } }) })).toMatchObject({
    status: 201,
  });
  const { metadata } = await jobOf('by-name');
  expect(metadata.annotations?.[SUBMITTED_BY_ANNOTATION]).toBe(submitterOf('team'));
  const told = async (): Promise<string[]> =>
    (await cluster.client.list(EVENTS, { namespace: 'team' })).items
      .filter(({ involvedObject, reason }) => involvedObject.uid === metadata.uid && reason === 'Submitted')
      .map(({ message }) => message ?? '');
  await expect.poll(told, { timeout: 60_000 }).toEqual([`submitted over HTTP by ${submitterOf('team')}`]);

  const queue = new Queue('batch', {
    connection: { url: redis.url, password: PASSWORD, maxRetriesPerRequest: null },
    prefix: 'switchyard:tenant:team',
  });
  const signed = ((await queue.getJob('by-name')) as { data: { manifest: object; signature: object } }).data;
  expect(signed.signature).toEqual({ user: submitterOf('team'), seal: expect.any(String) as string });
  const forged = { annotations: { [SUBMITTED_BY_ANNOTATION]: submitterOf('team') } };
  await queue.add('sum', signed, { jobId: 'other-key' });
  await queue.add('sum', { ...signed, manifest: manifest({ generateName: 'other-' }) }, { jobId: 'other-payload' });
  await queue.add('sum', { manifest: manifest(forged), signature: { ...signed.signature, user: 'root' } }, { jobId: 'other-user' });
  await queue.close();
  for (const key of ['other-key', 'other-payload', 'other-user'])
    expect((await jobOf(key)).metadata.annotations, key).not.toHaveProperty(SUBMITTED_BY_ANNOTATION);

  const time = new Date().toISOString();
  const condition = (type: string) => ({ type, status: 'True', reason: 'Tried', message: 'it was', lastTransitionTime: time });
  await cluster.client.patchStatus(
    JOBS,
    { namespace: 'team', name: metadata.name },
    { type: 'merge', body: { status: { startTime: time, conditions: [condition('FailureTarget'), condition('Failed')] } } },
  );
  const store = `--history-store=${path.join(directory, 'history')}`;
  type Kept = { items: { name: string; submittedBy?: string }[] };
  const kept = async (): Promise<string[]> => {
    const { stdout } = await switchyard(['history', store, '-n', 'team', '-o', 'json', '--created-by', submitterOf('team')]);
    return (JSON.parse(stdout) as Kept).items.filter(({ name }) => name === metadata.name).map(({ submittedBy }) => submittedBy ?? '');
  };
  await expect.poll(kept, { timeout: 60_000, interval: 500 }).toEqual([submitterOf('team')]);
  const { stdout } = await switchyard(['history', store, `team/${metadata.name}`]);
  expect(stdout).toContain(`submitted over HTTP by ${submitterOf('team')}`);
  const served = await fetch(`${url}/apis/history/v1/namespaces/team/jobs/${metadata.name}`, {
    headers: { authorization: `Bearer ${tokens.get('team')}` },
  });
  expect(await served.json()).toMatchObject({ submittedBy: submitterOf('team') });
});

test('who cancelled over HTTP stands on the Job before it goes, and in an Event', { timeout: 120_000 }, async () => {
  expect(await call('POST', 'unwanted', { body: manifest({ finalizers: ['example.org/kept'] }) })).toMatchObject({ status: 201 });
  const found = async (): Promise<Job[]> =>
    (await cluster.client.list(JOBS, { namespace: 'team' })).items.filter(
      ({ metadata }) => metadata.annotations?.[SUBMISSION_ANNOTATION] === 'unwanted',
    );
  await expect.poll(async () => (await found()).length, { timeout: 60_000 }).toBe(1);
  expect(await call('DELETE', 'unwanted')).toMatchObject({ status: 200, json: { cancelled: true } });
  await expect
    .poll(async () => (await found()).map(({ metadata }) => metadata.deletionTimestamp !== undefined), { timeout: 60_000 })
    .toEqual([true]);
  const [job] = await found();
  if (job === undefined) throw new Error('the Job is gone');
  expect(actsOn(job)).toMatchObject([{ what: 'Cancel', user: submitterOf('team') }]);
  const told = async (): Promise<string[]> =>
    (await cluster.client.list(EVENTS, { namespace: 'team' })).items
      .filter(({ involvedObject, reason }) => involvedObject.uid === job.metadata.uid && reason === 'ActedOn')
      .map(({ message }) => message ?? '');
  await expect.poll(told, { timeout: 60_000 }).toEqual([expect.stringContaining(`cancelled by ${submitterOf('team')}`) as string]);
});

describe('is refused', () => {
  test('whoever has no token, one of chance, or that of another tenant', async () => {
    expect(await call('GET', 'x', { as: '' })).toMatchObject({ status: 401, json: { kind: 'Status', reason: 'Unauthorized' } });
    expect(await call('GET', 'x', { as: 'guessed' })).toMatchObject({ status: 401 });
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(await call(method, 'x', { as: 'rich', of: 'team', ...(method === 'POST' ? { body: manifest() } : {}) }), method).toMatchObject(
        {
          status: 403,
          json: { reason: 'Forbidden', message: expect.stringContaining('submissionqueues/submissions') as string },
        },
      );
    expect(await call('POST', 'x', { as: 'rich', of: 'rich', body: manifest() })).toMatchObject({ status: 201 });
  });

  test.each([
    ['what is no JSON', '{"manifest":', 422, 'not JSON'],
    ['what is no object', '[1]', 422, 'manifest'],
    ['an option that is unknown', { manifest: {}, options: { colour: 1 } }, 422, 'options.colour'],
    ['a priority that is no number', { manifest: {}, options: { priority: 'high' } }, 422, 'options.priority'],
    ['what nests without end', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 422, 'levels deep'],
    ['what is too large', `"${'x'.repeat(2_000_000)}"`, 413, 'bytes'],
  ])('%s', async (_what, body, status, message) => {
    expect(await call('POST', 'odd', { body })).toMatchObject({ status, json: { message: expect.stringContaining(message) as string } });
  });

  test('a key that BullMQ does not take', async () => {
    expect(await call('POST', '17', { body: manifest() })).toMatchObject({
      status: 422,
      json: { message: expect.stringContaining('digits') as string },
    });
  });

  test('another method, path, queue or key', async () => {
    const put = await call('PUT', 'x', { body: '{}' });
    expect(put).toMatchObject({ status: 405 });
    expect(put.headers.get('allow')).toBe('POST, GET, DELETE');
    expect((await fetch(`${url}/apis/submissions/v1`)).status).toBe(404);
    expect(await call('GET', 'never')).toMatchObject({ status: 404, json: { reason: 'NotFound' } });
    expect(await call('DELETE', 'never')).toMatchObject({ status: 404 });
  });
});

test.skipIf(process.platform !== 'linux')('the password of Redis is in no variable and no argument of the manager', () => {
  for (const what of ['environ', 'cmdline']) expect(readFileSync(`/proc/${manager.pid}/${what}`, 'utf8')).not.toContain(PASSWORD);
});

test('a manager whose file of the URL cannot be used says so in one line, without the password, and ends', { timeout: 60_000 }, () => {
  const urlFile = path.join(directory, 'no-redis-url');
  writeFileSync(urlFile, `http://:${PASSWORD}@127.0.0.1`);
  const flags = [`--kubeconfig=${path.join(directory, 'kubeconfig')}`, `--redis-url-file=${urlFile}`];
  const { status, stderr } = spawnSync(process.execPath, ['manager/main.ts', ...flags], { encoding: 'utf8' });
  const problem = `switchyard-manager: --redis-url-file: "${urlFile}" is no redis:// or rediss:// URL; write one such as redis://localhost:6379\n`;
  expect({ status, stderr }).toEqual({ status: 2, stderr: problem });
});

test('whoever announces 100 MB is told so before any of it is read', async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${pathOf('big')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tokens.get('team')}\r\ncontent-length: 100000000\r\n\r\n{`,
  );
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  await new Promise((resolve) => socket.once('close', resolve));
});

test('the OpenAPI document names every path, and what it answers', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { responses: object }>>;
    components: { schemas: object };
  };
  expect(
    Object.entries(document.paths)
      // Views are told of in openapi.test.ts.
      .filter(([at]) => !at.startsWith('/api/v1/'))
      .map(([at, operations]) => `${at.replace(/.*queues/, '')}: ${Object.keys(operations).join(' ')}`),
  ).toEqual([
    '/{queue}/submissions: post',
    '/{queue}/submissions/{key}: post get delete',
    '/{queue}/submissions/{key}/events: get',
    '/apis/history/v1/namespaces/{namespace}/jobs: get',
    '/apis/history/v1/namespaces/{namespace}/usage: get',
    '/apis/history/v1/namespaces/{namespace}/{resource}/{name}: get',
    '/apis/history/v1/namespaces/{namespace}/{resource}/{name}/pods/{pod}/log: get',
  ]);
  const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  expect(refs.filter((name) => !(name in document.components.schemas))).toEqual([]);
});

test('the examples of docs/http-api.md work as they stand there', { timeout: 60_000 }, async () => {
  const examples = [...readFileSync('docs/http-api.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  expect(examples.length).toBeGreaterThan(2);
  const script = path.join(directory, 'examples.sh');
  writeFileSync(script, `set -e\n${examples.join('\n')}`);
  await using shell = new ChildProgram('the examples', ['bash', script], { SERVER: url, TOKEN: tokens.get('team') ?? '' });
  const lines: string[] = [];
  shell.onLine((line) => lines.push(line));
  await shell.failsWhenEnded().catch((error: unknown) => expect(String(error)).toContain('has ended (0)'));
  expect(lines.join('\n')).toContain('"state":"Accepted"');
  expect(lines.join('\n')).toContain('"cancelled":true');
});
