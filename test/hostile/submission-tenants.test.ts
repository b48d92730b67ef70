/**
 * Somebody who may write to the queue of one tenant, and wants what is another's: its namespace, its LocalQueue, its Jobs, or the rights of
 * the manager. The manager has the rights of the chart where it acts as a tenant; the admission policies are in force, and a policy of the
 * administrator's.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Queue, QueueEvents, type Job as Submission } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { installPolicies } from '../../manager/cli/local/set-up.ts';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { QUEUE_NAME_LABEL, SUBMITTED_BY_ANNOTATION } from '../../shared/api/names.ts';
import { payloadHash } from '../../shared/api/payload-hash.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { signedText } from '../../shared/api/submission-signature.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { ofKind, renderChart } from '../support/helm.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const SUBMITTER = 'switchyard-submitter';
const MANAGER: UserInfo = {
  name: 'system:serviceaccount:switchyard:test-switchyard-manager',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:switchyard', 'system:authenticated'],
};
const kind = (group: string, name: string, plural: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const RBAC = 'rbac.authorization.k8s.io';
const ROLES = kind(RBAC, 'Role', 'roles', true);
const ROLE_BINDINGS = kind(RBAC, 'RoleBinding', 'rolebindings', true);
const ADMISSION = 'admissionregistration.k8s.io';

const manifest = (metadata: object = {}, container: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata,
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', ...container }] } } },
});

let redis: TestRedis;
let world: DispatchWorld;
let open: { close(): Promise<void> }[];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

beforeEach(async () => {
  open = [];
  world = await createDispatchWorld({
    workers: ['eu-1'],
    realTime: true,
    carryNamespaces: ['team', 'team-test'],
    submissions: {
      shared: undefined,
      client: (actAs) => world.homeAs(MANAGER, actAs),
      connect: (tenant) =>
        connectBullmqQueue({
          redis: singleRedis(redis.url),
          tenant: tenant.id,
          name: tenant.redis.queue,
          prefix: tenant.redis.prefix,
          concurrency: 5,
          clock: systemClock,
          log: silentLogger,
        }),
    },
  });
  await grantManagerWhatTheChartGrants();
  await installPolicies(world.home, { managers: ['kubernetes-admin', MANAGER.name], localWorkers: [] });
  await denyPrivileged();
  for (const name of ['rich', 'team-test', 'unbound']) await world.home.create(NAMESPACES, { metadata: { name } });
  for (const namespace of ['team', 'team-test', 'rich']) await letSubmit(namespace, namespace === 'team-test' ? 'team' : namespace);
  await world.home.create(LOCAL_QUEUES, { metadata: { name: 'rich', namespace: 'team' }, spec: { clusterQueue: 'main' } });
  await world.home.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: 'rich' }, spec: { clusterQueue: 'main' } });
  await createQueue('team', { namespaces: ['team-test', 'unbound'], localQueues: ['main'] });
});
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  await world.close();
  await redis.wipe();
});

/** Of the chart's ClusterRole: the manager creates nothing by itself here. */
async function grantManagerWhatTheChartGrants(): Promise<void> {
  const rendered = renderChart('manager');
  for (const [name, plural] of [
    ['ClusterRole', 'clusterroles'],
    ['ClusterRoleBinding', 'clusterrolebindings'],
  ] as const)
    for (const object of ofKind(rendered, name)) await world.home.create(kind(RBAC, name, plural, false), object);
}

async function denyPrivileged(): Promise<void> {
  const expression =
    '!object.spec.template.spec.containers.exists(c, has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged)';
  const ofServiceAccounts = "request.userInfo.username.startsWith('system:serviceaccount:team:')";
  await world.home.create(kind(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false), {
    metadata: { name: 'no-privilege' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'], operations: ['CREATE'] }] },
      matchConditions: [{ name: 'of-tenants', expression: ofServiceAccounts }],
      validations: [{ expression, message: 'tenants have no privileged pods', reason: 'Forbidden' }],
    },
  } as never);
  await world.home.create(kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false), {
    metadata: { name: 'no-privilege' },
    spec: { policyName: 'no-privilege', validationActions: ['Deny'] },
  } as never);
}

/** Lets the ServiceAccount of a tenant create Jobs in a namespace, and delete them. */
const letSubmit = (namespace: string, tenant: string): Promise<void> =>
  grant(namespace, 'submit', tenant, { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] });
/** Lets it create ConfigMaps, and nothing else with them. */
const letAttach = (namespace: string): Promise<void> =>
  grant(namespace, 'attach', namespace, { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] });

async function grant(namespace: string, name: string, tenant: string, rule: object): Promise<void> {
  const metadata = { namespace, name };
  await world.home.create(ROLES, { metadata, rules: [rule] } as never);
  await world.home.create(ROLE_BINDINGS, {
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', namespace: tenant, name: SUBMITTER }],
  } as never);
}

const createQueue = (namespace: string, spec: object = {}) =>
  world.home.create(SUBMISSION_QUEUES, {
    metadata: { namespace, name: 'batch' },
    spec: { serviceAccountName: SUBMITTER, ...spec },
  } as never);

type Producer = {
  readonly queue: Queue;
  submit(data: unknown, id?: string): Promise<Submission>;
  /** What becomes of a submission, in words. */
  outcome(data: unknown, id?: string): Promise<string>;
};
async function producerOf(namespace: string): Promise<Producer> {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  const prefix = `switchyard:tenant:${namespace}`;
  const queue = new Queue('batch', { connection, prefix });
  const events = new QueueEvents('batch', { connection, prefix });
  open.push(queue, events);
  await events.waitUntilReady();
  const submit = (data: unknown, id?: string) => queue.add('sum', data, id === undefined ? {} : { jobId: id });
  return {
    queue,
    submit,
    outcome: async (data, id) =>
      (await submit(data, id)).waitUntilFinished(events).then(
        () => 'completed',
        (error: Error) => error.message,
      ),
  };
}
const jobs = async (): Promise<string[]> =>
  (await world.home.list(JOBS)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a submission becomes a Job of its tenant’s namespace and queue, created as its ServiceAccount, and hears of its end', async () => {
  const team = await producerOf('team');
  const outcome = team.outcome({ manifest: manifest({ name: 'honest' }) });
  const eu = world.worker('eu-1');
  await eventually(() => eu.copy('honest'));
  const job = await world.job('honest');
  expect(job.metadata).toMatchObject({ namespace: 'team', labels: { [QUEUE_NAME_LABEL]: 'main' } });
  await eu.start('honest');
  await eu.complete('honest');
  expect(await outcome).toBe('completed');
});

describe('nobody gets, by what a submission says,', () => {
  test.each<[string, object, RegExp]>([
    ['the namespace of another tenant', manifest({ namespace: 'rich' }), /^Forbidden: metadata\.namespace: is "rich"/],
    ['the namespace default', manifest({ namespace: 'default' }), /^Forbidden: metadata\.namespace: is "default"/],
    ['kube-system', manifest({ namespace: 'kube-system' }), /^Forbidden: metadata\.namespace: .* of Kubernetes itself/],
    ['a namespace that is a path', manifest({ namespace: '../kube-system' }), /^Invalid: metadata\.namespace/],
    [
      'the LocalQueue of another',
      manifest({ labels: { [QUEUE_NAME_LABEL]: 'rich' } }),
      /^Forbidden: metadata\.labels\[switchyard\.dev\/queue-name\]: is "rich"/,
    ],
    [
      'a namespace of its own in which its ServiceAccount has no rights',
      manifest({ namespace: 'unbound' }),
      /^Forbidden: jobs\.batch is forbidden: User "system:serviceaccount:team:switchyard-submitter" cannot create resource "jobs".* in the namespace "unbound"/,
    ],
    [
      'pods that an administrator denies to its ServiceAccount',
      manifest({}, { securityContext: { privileged: true } }),
      /^Forbidden: .*tenants have no privileged pods/,
    ],
    [
      'an admission record',
      manifest({ annotations: { 'switchyard.dev/admission': '{}' } }),
      /^Invalid: metadata\.annotations\[switchyard\.dev\/admission\]: is written by Switchyard only/,
    ],
  ])('%s', async (_what, data, refusal) => {
    const team = await producerOf('team');
    expect(await team.outcome(data)).toMatch(refusal);
    expect(await jobs()).toEqual([]);
  });

  test('the name of somebody else as of who submitted it', async () => {
    const team = await producerOf('team');
    const named = manifest({ name: 'named', annotations: { [SUBMITTED_BY_ANNOTATION]: 'ann' } });
    await team.submit({ manifest: named, signature: { user: 'ann', seal: 'x'.repeat(43) } }, 'named');
    const made = await eventually(async () => (await world.home.list(JOBS)).items.find(({ metadata }) => metadata.name === 'named'));
    expect(made.metadata.annotations).not.toHaveProperty(SUBMITTED_BY_ANNOTATION);
    const body = { metadata: { annotations: { [SUBMITTED_BY_ANNOTATION]: 'ann' } } };
    const account = world.homeAs({ name: `system:serviceaccount:team:${SUBMITTER}`, groups: ['system:masters'] }, undefined);
    await expect(account.patch(JOBS, { namespace: 'team', name: 'named' }, { type: 'merge', body })).rejects.toThrow(
      /submitted-by\]: is written by Switchyard only/,
    );
  });

  test('the Job of another tenant, whatever tenant, key and time it names', async () => {
    await createQueue('rich', { localQueues: ['main'] });
    const rich = await producerOf('rich');
    await rich.submit(manifest({ name: 'treasure' }), 'key');
    await eventually(async () => ((await jobs()).includes('rich/treasure') ? true : undefined));
    const { metadata } = await world.home.get(JOBS, { namespace: 'rich', name: 'treasure' });
    const team = await producerOf('team');
    const theirs = Object.entries(metadata.annotations ?? {}).filter(([name]) => /\/subm/.test(name));
    expect(await team.outcome(manifest({ name: 'treasure', annotations: Object.fromEntries(theirs) }), 'sealed')).toMatch(
      /^Invalid: metadata\.annotations\[switchyard\.dev\/submission-seal\]: is written by Switchyard only/,
    );
    const annotations = Object.fromEntries(theirs.filter(([name]) => !name.endsWith('-seal')));
    await team.submit(manifest({ name: 'treasure', annotations }), 'key');
    await eventually(async () => ((await jobs()).includes('team/treasure') ? true : undefined));
    const forged = await world.home.get(JOBS, { namespace: 'team', name: 'treasure' });
    expect(forged.metadata.annotations?.['switchyard.dev/submission-tenant']).not.toBe(
      metadata.annotations?.['switchyard.dev/submission-tenant'],
    );
    expect(forged.metadata.annotations?.['switchyard.dev/submission-seal']).not.toBe(
      metadata.annotations?.['switchyard.dev/submission-seal'],
    );
  });
});

describe('ConfigMaps that a submission brings', () => {
  const using = (name: string, metadata: object = {}): object => manifest(metadata, { envFrom: [{ configMapRef: { name } }] });
  const settings = (rate: string) => [{ name: 'settings', data: { rate } }];
  const configMaps = async (client = world.home) => (await client.list(CONFIG_MAPS, { namespace: 'team' })).items;

  test('are created as the ServiceAccount of its queue, travel with the Job, and go with it', async () => {
    await letAttach('team');
    const team = await producerOf('team');
    const outcome = team.outcome({ manifest: using('settings', { name: 'honest' }), attachments: settings('0.1') }, 'nightly');
    const eu = world.worker('eu-1');
    const copy = await eventually(() => eu.copy('honest'));
    const [made, another] = await configMaps();
    expect(another).toBeUndefined();
    const job = await world.job('honest');
    expect(made).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Job', name: 'honest', uid: job.metadata.uid }] },
      data: { rate: '0.1' },
      immutable: true,
    });
    expect(job.spec.template.spec?.containers?.[0]?.envFrom).toEqual([{ configMapRef: { name: made?.metadata.name } }]);
    const carried = await eventually(async () => (await configMaps(eu.client)).find(({ data }) => data?.['rate'] === '0.1'));
    expect(copy.spec.template.spec?.containers?.[0]?.envFrom).toEqual([{ configMapRef: { name: carried.metadata.name } }]);
    await eventually(async () => ((await eu.copy('honest'))?.spec.suspend === false ? true : undefined));
    await eu.start('honest');
    await eu.complete('honest');
    expect(await outcome).toBe('completed');
    await world.home.delete(JOBS, { namespace: 'team', name: 'honest' }, { propagationPolicy: 'Background' });
    await eventually(async () => ((await configMaps()).length === 0 ? true : undefined));
    await eventually(async () => ((await configMaps(eu.client)).length === 0 ? true : undefined));
  });

  test('are refused before there is a Job where that account may not create them, or nothing is carried from', async () => {
    await createQueue('rich', { localQueues: ['main'] });
    const [team, rich] = [await producerOf('team'), await producerOf('rich')];
    const data = { manifest: using('settings'), attachments: settings('0.1') };
    expect(await team.outcome(data)).toMatch(
      /^Forbidden: attachments: configmaps is forbidden: User "system:serviceaccount:team:switchyard-submitter" cannot create resource "configmaps".*; let the ServiceAccount team\/switchyard-submitter create ConfigMaps in the namespace team$/,
    );
    expect(await rich.outcome(data)).toMatch(/^Forbidden: attachments: nothing is carried from the namespace rich; leave them out, or ask/);
    expect(await jobs()).toEqual([]);
    // What it may do later it may do under the same key.
    await letAttach('team');
    await team.submit(data, 'again');
    await eventually(async () => ((await jobs()).length === 1 ? true : undefined));
  });

  test.each<[string, unknown, RegExp]>([
    ['in a namespace of their own', [{ name: 'settings', namespace: 'rich' }], /^Invalid: attachments\[0]\.namespace: is unknown/],
    ['with owners of their own', [{ name: 'settings', ownerReferences: [] }], /^Invalid: attachments\[0]\.ownerReferences: is unknown/],
    ['of another kind', [{ name: 'settings', kind: 'Secret' }], /^Invalid: attachments\[0]\.kind: is unknown/],
    ['of names that are too long', [{ name: 's'.repeat(241) }], /^Invalid: attachments\[0]\.name: has 241 characters, and at most 240/],
    [
      'that are too many',
      Array.from({ length: 9 }, (_, at) => ({ name: `s${at}` })),
      /^Invalid: attachments: has 9 ConfigMaps, and at most 8/,
    ],
    ['that are too large', settings('x'.repeat(1_000_000)), /^Invalid: the submission has \d+ bytes, and at most \d+ are read/],
    ['that no pod refers to', [{ name: 'other' }], /^Invalid: attachments\[0]\.name: no pod of the manifest refers to a ConfigMap "other"/],
    ['that are no list', { name: 'settings' }, /^Invalid: attachments: is no list/],
  ])('are refused %s', async (_what, attachments, refusal) => {
    await letAttach('team');
    const team = await producerOf('team');
    expect(await team.outcome({ manifest: using('settings'), attachments })).toMatch(refusal);
    expect([await jobs(), await configMaps()]).toEqual([[], []]);
  });

  test('never change what somebody else has there, and two queues of a namespace never share one', async () => {
    await letAttach('team');
    await world.home.create(CONFIG_MAPS, { metadata: { namespace: 'team', name: 'settings' }, data: { rate: 'of somebody else' } });
    await world.home.create(SUBMISSION_QUEUES, {
      metadata: { namespace: 'team', name: 'other' },
      spec: { serviceAccountName: SUBMITTER, localQueues: ['main'] },
    });
    const team = await producerOf('team');
    const other = new Queue('other', { connection: { url: redis.url }, prefix: 'switchyard:tenant:team' });
    open.push(other);
    await team.submit({ manifest: using('settings'), attachments: settings('1') }, 'nightly');
    await other.add('sum', { manifest: using('settings'), attachments: settings('1') }, { jobId: 'nightly' });
    await eventually(async () => ((await configMaps()).length === 3 ? true : undefined));
    const found = (await configMaps()).map(
      ({ metadata, data }) => `${metadata.ownerReferences?.[0]?.name ?? metadata.name}: ${data?.['rate']}`,
    );
    const names = (await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    expect(found.toSorted()).toEqual(['settings: of somebody else', ...names.map((name) => `${name}: 1`)].toSorted());
  });
});

test('the Job of a submission that is removed is deleted as the ServiceAccount: where that may not, it stays, and the queue says what to do', {
  timeout: 120_000,
}, async () => {
  const role = { namespace: 'rich', name: 'submit' };
  const allow = (verbs: readonly string[]) =>
    world.home.patch(ROLES, role, { type: 'merge', body: { rules: [{ apiGroups: ['batch'], resources: ['jobs'], verbs }] } } as never);
  await allow(['create']);
  await createQueue('rich', { localQueues: ['main'] });
  const rich = await producerOf('rich');
  const submission = await rich.submit({ manifest: manifest({ name: 'unwanted' }) }, 'unwanted');
  await eventually(async () => ((await submission.getState()) === 'delayed' ? true : undefined));
  await submission.remove();
  const condition = async () =>
    (await world.home.get(SUBMISSION_QUEUES, { namespace: 'rich', name: 'batch' })).status?.conditions?.find(
      ({ type }) => type === 'JobsWithdrawn',
    );
  expect(await eventually(condition)).toMatchObject({
    status: 'False',
    reason: 'DeleteForbidden',
    message: expect.stringMatching(
      /cannot delete resource "jobs".*; let the ServiceAccount rich\/switchyard-submitter delete Jobs in the namespace rich$/,
    ),
  });
  expect(await jobs()).toEqual(['rich/unwanted']);
  await allow(['create', 'delete']);
  await eventually(async () => ((await jobs()).length === 0 ? true : undefined));
});

test('what is on a Job of the ServiceAccount’s own making is no submission: it may not write what the manager writes as it', async () => {
  const itself = world.homeAs({ name: `system:serviceaccount:team:${SUBMITTER}`, groups: ['system:authenticated'] });
  const annotations = { 'switchyard.dev/submission': '7', 'switchyard.dev/submitted-at': '1000' };
  const job = manifest({ namespace: 'team', name: 'forged', labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations });
  await expect(itself.create(JOBS, job as never, { fieldManager: 'switchyard-manager' })).rejects.toThrow(/is written by Switchyard only/);
});

test('where a queue wants signatures, who can write to Redis alone submits nothing', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const bytes = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  await createQueue('rich', { localQueues: ['main'], signing: { keys: [{ name: 'ci', publicKey: bytes }] } });
  const rich = await producerOf('rich');
  expect(await rich.outcome({ manifest: manifest({ name: 'forged' }) }, 'nightly')).toMatch(/^Forbidden: signature: is missing/);
  const data = { manifest: manifest({ name: 'honest' }) };
  const expires = new Date(Date.now() + 60_000).toISOString();
  const text = signedText({ queue: 'rich/batch', key: 'nightly-2', payloadHash: payloadHash(data), expires });
  const signature = { key: 'ci', expires, value: sign(null, Buffer.from(text), privateKey).toString('base64') };
  expect(await rich.outcome({ ...data, signature }, 'nightly-3')).toMatch(/^Forbidden: signature\.value/);
  await rich.submit({ ...data, signature }, 'nightly-2');
  await eventually(async () => ((await jobs()).includes('rich/honest') ? true : undefined));
  expect(await jobs()).toEqual(['rich/honest']);
});

test('where the manager may not act as the ServiceAccount nobody is refused: the submission waits for an administrator', async () => {
  await createQueue('rich', { serviceAccountName: 'cluster-admin', localQueues: ['main'] });
  const rich = await producerOf('rich');
  const submission = await rich.submit(manifest({ name: 'patient' }));
  await eventually(async () => ((await submission.getState()) === 'delayed' ? true : undefined));
  expect(await jobs()).toEqual([]);
  await world.home.patch(
    SUBMISSION_QUEUES,
    { namespace: 'rich', name: 'batch' },
    { type: 'merge', body: { spec: { serviceAccountName: SUBMITTER } } },
  );
  await eventually(async () => ((await jobs()).includes('rich/patient') ? true : undefined));
});
