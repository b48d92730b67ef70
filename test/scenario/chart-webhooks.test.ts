/** The webhook configurations of the manager's chart, with a Job on its way through them; only the address is the test's. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { creatorOf } from '../../manager/api/creator.ts';
import type { AuditEntry } from '../../manager/audit/audit-line.ts';
import { createWriteAudit, type PassedWrite } from '../../manager/audit/write-audit.ts';
import { actsOn } from '../../manager/api/job-acts.ts';
import type { WebhookServer } from '../../manager/webhook/server.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import {
  ACTS_ANNOTATION,
  ADMISSION_ANNOTATION,
  CLUSTERS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  HOLD_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  CHECK_FIELD_MANAGER,
  OVERRIDE_FIELD_MANAGER,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import type { EmbeddedCluster } from '../support/embedded-cluster.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { MANAGER, createChartWebhooks } from './chart-webhooks-world.ts';

let cluster: EmbeddedCluster;
let hooks: WebhookServer;
let onPassed: (write: PassedWrite) => void = () => undefined;
let server: { url: string; close(): Promise<void> };
let close: () => Promise<void>;

beforeAll(async () => {
  ({ cluster, hooks, server, close } = await createChartWebhooks({
    kind: JOB_KIND,
    values: ['config.kueueQueueLabel=true', 'webhook.managedNamespaceSelector.matchLabels.managed=all'],
    onPassed: (write) => onPassed(write),
  }));
});
afterAll(async () => {
  await server.close();
  await close();
});

const create = (name: string, labels: Record<string, string>, namespace = 'default'): Promise<Job> =>
  cluster.client.create(JOBS, {
    metadata: { name, namespace, labels },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });

test.each([QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL])('a Job with the label %s is born suspended and the manager’s own', async (label) => {
  const { metadata, spec } = await create(`queued-by-${label.split('.')[0]}`, { [label]: 'batch' });
  expect(spec).toMatchObject({ suspend: true, managedBy: MANAGER_CONTROLLER_NAME });
  expect(metadata.labels).toEqual({ [label]: 'batch', [QUEUE_NAME_LABEL]: 'batch' });
});

test('a Job without a queue is the manager’s own in a namespace that is chosen for it, and nobody’s elsewhere', async () => {
  for (const [name, labels] of [
    ['chosen', { managed: 'all' }],
    ['other', {}],
    ['kube-chosen', { managed: 'all' }],
  ] as const)
    await cluster.client.create(NAMESPACES, { metadata: { name, labels } });
  const { metadata, spec } = await create('without', { team: 'a' }, 'chosen');
  expect(metadata.labels).toEqual({ team: 'a', [QUEUE_NAME_LABEL]: 'default' });
  expect(spec).toMatchObject({ suspend: true, managedBy: MANAGER_CONTROLLER_NAME });
  expect((await create('named', { [QUEUE_NAME_LABEL]: 'batch' }, 'chosen')).metadata.labels).toEqual({ [QUEUE_NAME_LABEL]: 'batch' });
  expect((await create('kueues', { [KUEUE_QUEUE_NAME_LABEL]: 'batch' }, 'chosen')).metadata.labels).toMatchObject({
    [QUEUE_NAME_LABEL]: 'batch',
  });
  for (const [namespace, labels] of [
    ['chosen', { [QUEUE_NAME_LABEL]: '' }],
    ['other', {}],
    ['kube-chosen', {}],
  ] as const) {
    const job = await create('left-alone', labels, namespace);
    expect(job.metadata.labels?.[QUEUE_NAME_LABEL] ?? '').toBe('');
    expect(job.spec.managedBy).toBeUndefined();
    expect(job.spec.suspend ?? false).toBe(false);
  }
});

test('a Job without a queue waits for the manager in a chosen namespace alone', async () => {
  await server.close();
  try {
    await expect(create('while-away', {}, 'chosen')).rejects.toThrow(/unlabelled.switchyard.dev/);
    await create('while-away', {}, 'other');
  } finally {
    server = await hooks.listen(server.url.replace('https://', ''));
  }
});

test('a Job says who created it, also where its manifest names another', async () => {
  const ann = createKubeClient(cluster.plane.transport({ name: 'ann', groups: ['system:masters'] }), {
    userAgent: 'test',
    clock: systemClock,
  });
  const bears = (name: string, annotations?: Record<string, string>): Promise<Job> =>
    ann.create(JOBS, {
      metadata: { name, namespace: 'default', labels: { [QUEUE_NAME_LABEL]: 'batch' }, ...(annotations && { annotations }) },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
    });
  expect(creatorOf(await bears('by-ann'))).toBe('ann');
  expect(creatorOf(await bears('by-ann-as-bob', { [CREATED_BY_ANNOTATION]: 'bob' }))).toBe('ann');
  const body = { metadata: { annotations: { [CREATED_BY_ANNOTATION]: 'bob' } } };
  await expect(ann.patch(JOBS, { namespace: 'default', name: 'by-ann' }, { type: 'merge', body })).rejects.toThrow(
    /names the user who creates/,
  );
});

test('who holds, releases and moves a Job by writing it is noted once that is stored, and a try is not', async () => {
  const running = new AbortController();
  const jobs = createInformer({ client: cluster.client, resource: JOBS, clock: systemClock, random: Math.random, log: silentLogger });
  const entries: AuditEntry[] = [];
  const audit = createWriteAudit({ kind: JOB_KIND, log: { note: (entry) => entries.push(entry) }, jobs, clock: systemClock });
  onPassed = audit.passed;
  jobs.addHandler(audit.handler);
  const watching = jobs.run(running.signal);
  await jobs.waitForSync();
  const { uid } = (await create('moved', { [QUEUE_NAME_LABEL]: 'batch' })).metadata;
  await expect.poll(() => jobs.get({ namespace: 'default', name: 'moved' })?.metadata.uid).toBe(uid);
  const patchJob = async (user: string, metadata: object, query = ''): Promise<void> => {
    const { status } = await cluster.plane.transport({ name: user, groups: ['system:masters'] }).send({
      method: 'PATCH',
      path: `/apis/batch/v1/namespaces/default/jobs/moved?fieldManager=kubectl-edit${query}`,
      headers: { 'content-type': 'application/merge-patch+json', accept: 'application/json' },
      body: JSON.stringify({ metadata }),
    });
    expect(status).toBe(200);
  };
  await patchJob('mallory', { annotations: { [HOLD_ANNOTATION]: 'true' } }, '&dryRun=All');
  await patchJob('ann', { annotations: { [HOLD_ANNOTATION]: 'true' } });
  await patchJob('bob', { annotations: { [CLUSTERS_ANNOTATION]: 'east' }, labels: { [QUEUE_NAME_LABEL]: 'night' } });
  await patchJob('ann', { annotations: { [HOLD_ANNOTATION]: null, [PRIORITY_ANNOTATION]: '5', note: 'x' } });
  const asManager = createKubeClient(cluster.plane.transport(MANAGER), { userAgent: 'test', clock: systemClock });
  const body = { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } };
  const { metadata } = await asManager.patch(
    JOBS,
    { namespace: 'default', name: 'moved' },
    { type: 'merge', body },
    { fieldManager: MANAGER_FIELD_MANAGER },
  );
  await expect.poll(() => jobs.get({ namespace: 'default', name: 'moved' })?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  expect(entries.map(({ user, what, value, outcome }) => [user?.username, what, value, outcome].filter(Boolean).join(' '))).toEqual([
    'ann hold Done',
    'bob set-queue night Done',
    'bob set-clusters east Done',
    'ann release Done',
    'ann set-priority 5 Done',
  ]);
  expect(entries[0]).toMatchObject({ on: { uid }, from: { door: 'webhook', address: '127.0.0.1' }, user: { groups: ['system:masters'] } });
  onPassed = () => undefined;
  running.abort();
  await watching;
});

test('nobody but the manager may write the admission record', async () => {
  await create('guarded', { [QUEUE_NAME_LABEL]: 'batch' });
  const body = { metadata: { annotations: { 'switchyard.dev/admission': '{}' } }, spec: { suspend: false } };
  await expect(cluster.client.patch(JOBS, { namespace: 'default', name: 'guarded' }, { type: 'merge', body })).rejects.toThrow(/admission/);
});

test('the manager itself, told by user and field manager, never waits for its own webhook', async () => {
  const asManager = createKubeClient(cluster.plane.transport(MANAGER), { userAgent: 'test', clock: systemClock });
  await create('admitted', { [QUEUE_NAME_LABEL]: 'batch' });
  const patch = { type: 'merge' as const, body: { metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } }, spec: { suspend: false } } };
  const key = { namespace: 'default', name: 'admitted' };
  await expect(asManager.patch(JOBS, key, patch, { fieldManager: 'kubectl-patch' })).rejects.toThrow(/admission/);
  await asManager.patch(JOBS, key, patch, { fieldManager: MANAGER_FIELD_MANAGER });
  await expect(cluster.client.patchStatus(JOBS, key, { type: 'merge', body: { status: { active: 1 } } })).rejects.toThrow(
    /status: is written/,
  );
  await server.close();
  try {
    await asManager.patchStatus(JOBS, key, { type: 'merge', body: { status: { active: 1 } } }, { fieldManager: MANAGER_FIELD_MANAGER });
  } finally {
    server = await hooks.listen(server.url.replace('https://', ''));
  }
});

test('a person may pass by the rules who says so, and who was given that right', async () => {
  await create('broken-glass', { [QUEUE_NAME_LABEL]: 'batch' });
  const patch = { type: 'merge' as const, body: { metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } } } };
  const key = { namespace: 'default', name: 'broken-glass' };
  const override = { fieldManager: OVERRIDE_FIELD_MANAGER };
  await cluster.client.create(
    { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
    {
      metadata: { name: 'tenants' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
    } as never,
  );
  const tenant = createKubeClient(cluster.plane.transport({ name: 'tenant', groups: ['system:authenticated'] }), {
    userAgent: 'test',
    clock: systemClock,
  });
  await expect(tenant.patch(JOBS, key, patch, override)).rejects.toThrow(/admission/);
  expect(actsOn(await cluster.client.patch(JOBS, key, patch, override))).toHaveLength(1);
});

/** Sends a merge patch as a user, as kubectl with that field manager does; what comes back, with its warnings. */
async function patchAs(user: string, name: string, body: object, subresource = ''): Promise<{ job: Job; warnings: string[] }> {
  const {
    status,
    headers,
    body: text,
  } = await cluster.plane.transport({ name: user, groups: ['system:masters'] }).send({
    method: 'PATCH',
    path: `/apis/batch/v1/namespaces/default/jobs/${name}${subresource}?fieldManager=${OVERRIDE_FIELD_MANAGER}`,
    headers: { 'content-type': 'application/merge-patch+json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  expect(status).toBe(200);
  return { job: JSON.parse(text) as Job, warnings: [headers['warning'] ?? []].flat() };
}
const usersOf = (job: Job): string[] => actsOn(job).map(({ what, user }) => `${what} ${user}`);

test('who passes by the rules is warned, and is on the Job by the name that the API server knows', async () => {
  await create('overridden', { [QUEUE_NAME_LABEL]: 'batch' });
  const { job, warnings } = await patchAs('root', 'overridden', { metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } } });
  expect(usersOf(job)).toEqual(['Override root']);
  expect(warnings.join()).toContain(`field manager ${OVERRIDE_FIELD_MANAGER} passes by the rules`);
  const other = await patchAs('admin', 'overridden', { status: { active: 1 } }, '/status');
  expect(usersOf(other.job)).toEqual(['Override root', 'Override admin']);
  expect(other.warnings).toHaveLength(1);
});

test('who passes by the rules neither names another in the acts nor wipes them', async () => {
  await create('wiped', { [QUEUE_NAME_LABEL]: 'batch' });
  const forged = JSON.stringify([{ what: 'Override', user: 'bob', at: '2026-01-01T00:00:00Z' }]);
  await patchAs('root', 'wiped', { metadata: { annotations: { [ACTS_ANNOTATION]: forged } } });
  const { job } = await patchAs('root', 'wiped', { metadata: { annotations: { [ACTS_ANNOTATION]: null } } });
  expect(usersOf(job)).toEqual(['Override root', 'Override root']);
});

test('the rules are passed by, with a warning, while no manager answers, and nobody is named then', async () => {
  await create('unanswered', { [QUEUE_NAME_LABEL]: 'batch' });
  await server.close();
  try {
    const { job, warnings } = await patchAs('root', 'unanswered', { metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } } });
    expect([usersOf(job), warnings.length]).toEqual([[], 1]);
  } finally {
    server = await hooks.listen(server.url.replace('https://', ''));
  }
});

test('a Job of which nothing is ours tells nothing of whoever calls himself so', async () => {
  await create('foreign', { app: 'x' });
  const { job, warnings } = await patchAs('root', 'foreign', { metadata: { labels: { app: 'y' } } });
  expect([usersOf(job), warnings]).toEqual([[], []]);
});

test('the controller of an admission check says what it has to say, and nobody else does', async () => {
  await create('checked', { [QUEUE_NAME_LABEL]: 'batch' });
  const key = { namespace: 'default', name: 'checked' };
  const conditions = [{ type: 'budget', status: 'True', reason: 'Ready', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const patch = { type: 'strategic' as const, body: { status: { conditions } } };
  const rbac = (plural: string, kind: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: false });
  const jobStatus = { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['patch', 'update'] };
  const checks = { apiGroups: ['switchyard.dev'], resources: ['admissionchecks'], verbs: ['update'] };
  for (const [name, rules] of [
    ['checker', [jobStatus, checks]],
    ['forger', [jobStatus]],
  ] as const) {
    await cluster.client.create(rbac('clusterroles', 'ClusterRole'), { metadata: { name }, rules } as never);
    await cluster.client.create(rbac('clusterrolebindings', 'ClusterRoleBinding'), {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    } as never);
  }
  const as = (name: string) =>
    createKubeClient(cluster.plane.transport({ name, groups: ['system:authenticated'] }), { userAgent: 'test', clock: systemClock });
  const asCheck = { fieldManager: CHECK_FIELD_MANAGER };
  await expect(as('forger').patchStatus(JOBS, key, patch, asCheck)).rejects.toThrow(/status: is written/);
  await expect(as('checker').patchStatus(JOBS, key, patch)).rejects.toThrow(/status: is written/);
  await as('checker').patchStatus(JOBS, key, patch, asCheck);
  expect((await cluster.client.get(JOBS, key)).status?.conditions).toEqual([expect.objectContaining({ type: 'budget', status: 'True' })]);
});

test('other Jobs, and those of excluded namespaces, do not wait for the manager, even when none answers', async () => {
  expect((await create('plain', { app: 'x' })).spec.managedBy).toBeUndefined();
  await server.close();
  expect((await create('plain-without-manager', {})).spec.suspend).toBe(false);
  expect((await create('system', { [QUEUE_NAME_LABEL]: 'batch' }, 'kube-system')).spec.managedBy).toBeUndefined();
  await expect(create('queued-without-manager', { [QUEUE_NAME_LABEL]: 'batch' })).rejects.toThrow(
    /failed calling webhook "jobs\.switchyard\.dev"/,
  );
});
