/**
 * The adversary may do anything to Jobs of one namespace of the manager cluster, to their status, too. They want pods without quota, and to
 * have the manager believe what is not so. Everything goes over HTTPS: to the API server, and from it to the manager's webhook. Each attack
 * is tried twice: against the webhook alone, and against the admission policies alone, when no manager answers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify, parse } from 'yaml';
import { createManagerAccount, MANAGER_USERNAME } from '../../manager/cli/local/manager-account.ts';
import { installPolicies, installWebhooks, SYSTEM_NAMESPACE } from '../../manager/cli/local/set-up.ts';
import { selfSignedCertificate } from '../../manager/cli/local/webhook-certificate.ts';
import { createWebhookServer } from '../../manager/webhook/server.ts';
import type { Job, Unsaved } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  CLUSTERS_ANNOTATION,
  COPIES_FINALIZER,
  DISPATCH_EPOCH_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  OVERRIDE_FIELD_MANAGER,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { certificateFromFiles } from '../../shared/runtime/serving-certificate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startServerUnderTest } from '../support/server-under-test.ts';
import { formatAdmissionRecord } from '../../manager/api/records.ts';
import { aRecord } from '../support/jobs.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const TIME_LIMIT_MS = 180_000;
const NAMESPACE = 'team';
const FORGED = formatAdmissionRecord(aRecord({ clusterQueue: 'another-tenants' }), { written: '2026-01-01T00:00:00.000Z', seal: 'x' });
const LOCAL_WORKER = `system:serviceaccount:${SYSTEM_NAMESPACE}:switchyard-worker`;

const kind = (group: string, name: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural: `${name.toLowerCase()}s`,
  kind: name,
  namespaced,
});
const RBAC = 'rbac.authorization.k8s.io';
type World = {
  readonly tenant: KubeClient;
  readonly manager: KubeClient;
  readonly worker: KubeClient;
  /** Who used the manager's identity, as the webhook saw it. */
  readonly shared: string[];
  close(): Promise<void>;
};

const clientOf = (yaml: string): KubeClient =>
  createKubeClient(createHttpTransport(accessFromKubeconfig({ kind: 'text', yaml }, systemClock), silentLogger), {
    userAgent: 'test',
    clock: systemClock,
  });

async function createWorld(guard: 'webhook' | 'policies'): Promise<World> {
  const server = await startServerUnderTest();
  const { kubeconfig } = server;
  const admin = clientOf(kubeconfig);
  for (const name of [SYSTEM_NAMESPACE, NAMESPACE]) await admin.create(NAMESPACES, { metadata: { name } });
  const manager = clientOf(await createManagerAccount(admin, ROOT, kubeconfig));
  await letManagerCreateJobs(admin);
  const tenant = clientOf(await accountOf(admin, kubeconfig, NAMESPACE, 'tenant'));
  const worker = clientOf(await accountOf(admin, kubeconfig, SYSTEM_NAMESPACE, 'switchyard-worker'));
  const identities = { managers: [MANAGER_USERNAME], localWorkers: [LOCAL_WORKER] };
  const shared: string[] = [];
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-tenant-'));
  let closeWebhook = async (): Promise<void> => undefined;
  if (guard === 'policies') {
    await installPolicies(admin, identities);
  } else {
    const certificate = await selfSignedCertificate(Date.now());
    const [certFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
    writeFileSync(certFile, certificate.certPem);
    writeFileSync(keyFile, certificate.keyPem);
    const onSharedIdentity = (username: string, fieldManager: string): void => void shared.push(`${username} as ${fieldManager}`);
    const server = createWebhookServer({
      kind: JOB_KIND,
      certificate: certificateFromFiles({ of: 'webhook', certFile, keyFile, clock: systemClock, log: silentLogger }),
      identities,
      onSharedIdentity,
      clock: systemClock,
      log: silentLogger,
    });
    const { url, close } = await server.listen('127.0.0.1:0');
    closeWebhook = close;
    await installWebhooks(admin, { port: Number(new URL(url).port), certificate, identities });
  }
  await rulesAreInForce(tenant);
  return {
    tenant,
    manager,
    worker,
    shared,
    close: async () => {
      await Promise.all([tenant, manager, worker, admin].map((client) => client.close()));
      await server.close();
      await closeWebhook();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * An API server learns of webhooks and of each policy by a watch, and lets writes pass until then. One of these writes is refused by either
 * policy.
 */
async function rulesAreInForce(tenant: KubeClient): Promise<void> {
  await tenant.create(JOBS, aJob('probe'));
  for (const patch of [annotated(ADMISSION_ANNOTATION, FORGED), merge({ metadata: QUEUED })]) {
    const isRefused = (): Promise<boolean> =>
      tenant.patch(JOBS, key('probe'), patch, { dryRun: true }).then(
        () => false,
        () => true,
      );
    await vi.waitUntil(isRefused, { timeout: TIME_LIMIT_MS, interval: 100 });
  }
  await tenant.delete(JOBS, key('probe'), { propagationPolicy: 'Background' });
}

/** As the chart does in the namespaces for Jobs of the shared queue. */
async function letManagerCreateJobs(admin: KubeClient): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: 'switchyard-manager' };
  await admin.create(kind(RBAC, 'Role', true), {
    metadata,
    rules: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create'] }],
  } as never);
  await admin.create(kind(RBAC, 'RoleBinding', true), {
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'User', apiGroup: RBAC, name: MANAGER_USERNAME }],
  } as never);
}

/** A kubeconfig of a ServiceAccount that may do anything to Jobs and their status, and to nothing else. */
async function accountOf(admin: KubeClient, kubeconfig: string, namespace: string, name: string): Promise<string> {
  const metadata = { namespace, name };
  await admin.create(kind('', 'ServiceAccount', true), { metadata });
  const everything = [{ apiGroups: ['batch'], resources: ['jobs', 'jobs/status'], verbs: ['*'] }];
  await admin.create(kind(RBAC, 'Role', true), { metadata: { namespace: NAMESPACE, name }, rules: everything } as never);
  await admin.create(kind(RBAC, 'RoleBinding', true), {
    metadata: { namespace: NAMESPACE, name },
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  } as never);
  const answer = await admin.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const { status } = JSON.parse(answer) as { status: { token: string } };
  const config = parse(kubeconfig) as { users: { user: object }[] };
  for (const each of config.users) each.user = { token: status.token };
  return stringify(config);
}

type Parts = { readonly metadata?: object; readonly spec?: object };
const aJob = (name: string, { metadata, spec }: Parts = {}): Unsaved<Job> => ({
  metadata: { name, namespace: NAMESPACE, ...metadata },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }, ...spec },
});
const MANAGED = { managedBy: MANAGER_CONTROLLER_NAME, suspend: true };
const QUEUED = { labels: { [QUEUE_NAME_LABEL]: 'main' } };
const merge = (body: object): Patch => ({ type: 'merge', body });
const annotated = (name: string, value: string | null): Patch => merge({ metadata: { annotations: { [name]: value } } });
const key = (name: string) => ({ namespace: NAMESPACE, name });
const byManager = { fieldManager: MANAGER_FIELD_MANAGER };

/** One Job of each kind: it waits, is admitted, is nobody's but its user's, is a copy, or is the manager's and in no queue. */
async function createJobs({ tenant, manager }: World): Promise<void> {
  await tenant.create(JOBS, aJob('waiting', { metadata: QUEUED, spec: MANAGED }));
  await tenant.create(JOBS, aJob('plain', { spec: { parallelism: 2 } }));
  await manager.create(
    JOBS,
    aJob('submitted', { metadata: { ...QUEUED, annotations: { [SUBMISSION_ANNOTATION]: '7' } }, spec: MANAGED }),
    byManager,
  );
  await tenant.create(JOBS, aJob('admitted', { metadata: QUEUED, spec: { ...MANAGED, parallelism: 2, completions: 10 } }));
  await manager.create(JOBS, aJob('unqueued', { spec: MANAGED }), byManager);
  const record = { annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord()) }, finalizers: [COPIES_FINALIZER] };
  await manager.patch(JOBS, key('admitted'), merge({ metadata: record, spec: { suspend: false } }), byManager);
  const origin = { [ORIGIN_UID_ANNOTATION]: 'u', [ORIGIN_NAME_ANNOTATION]: 'admitted', [DISPATCH_EPOCH_ANNOTATION]: '1' };
  await manager.create(
    JOBS,
    aJob('copy', { metadata: { labels: { [ORIGIN_LABEL]: 'home' }, annotations: origin }, spec: { managedBy: WORKER_CONTROLLER_NAME } }),
    byManager,
  );
}

type Attack = readonly [sentence: string, attempt: (world: World) => Promise<unknown>, refusal: RegExp];
const created = (sentence: string, parts: Parts, refusal: RegExp): Attack => [
  `a new Job ${sentence}`,
  ({ tenant }) => tenant.create(JOBS, aJob('new', parts)),
  refusal,
];
const patched = (sentence: string, name: string, patch: Patch, refusal: RegExp): Attack => [
  sentence,
  ({ tenant }) => tenant.patch(JOBS, key(name), patch),
  refusal,
];
const statusPatched = (sentence: string, name: string, patch: Patch, refusal: RegExp): Attack => [
  sentence,
  ({ tenant }) => tenant.patchStatus(JOBS, key(name), patch),
  refusal,
];
const RECORD = /annotations\[switchyard\.dev\/admission\]: is written by Switchyard only/;
const forged = { annotations: { [ADMISSION_ANNOTATION]: FORGED } };

/** Names among which an expression that goes through all of them has much to do. */
const PADDING = { labels: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`n${i}`, ''])) };

const ATTACKS: readonly Attack[] = [
  created('with a forged record and no queue', { metadata: forged, spec: { ...MANAGED, suspend: false } }, RECORD),
  created(
    'with a forged record and an empty queue',
    { metadata: { ...forged, labels: { [QUEUE_NAME_LABEL]: '' } }, spec: MANAGED },
    RECORD,
  ),
  created(
    'with an empty queue beside Kueue’s label',
    { metadata: { labels: { [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'main' } }, spec: MANAGED },
    /queue-name\]: is missing, but spec\.managedBy is switchyard\.dev\/manager/,
  ),
  created('of the manager’s without a queue', { spec: MANAGED }, /queue-name\]: is missing/),
  created('with a forged record, of another controller', { metadata: forged }, RECORD),
  created(
    'with a finalizer that nobody will take off',
    { metadata: { finalizers: [COPIES_FINALIZER] } },
    /finalizers\[switchyard\.dev\/copies\]/,
  ),
  created(
    'that claims to be somebody’s submission',
    { metadata: { ...QUEUED, annotations: { [SUBMISSION_ANNOTATION]: '7', [SUBMITTED_AT_ANNOTATION]: '1' } }, spec: MANAGED },
    /annotations\[switchyard\.dev\/submission\]: is written/,
  ),
  created(
    'that claims to be a copy',
    { metadata: { labels: { [ORIGIN_LABEL]: 'home' } }, spec: { managedBy: WORKER_CONTROLLER_NAME } },
    /labels\[switchyard\.dev\/origin\]: is written/,
  ),
  created(
    'that claims to be a copy of another, and has a queue',
    { metadata: { ...QUEUED, annotations: { [ORIGIN_NAME_ANNOTATION]: 'admitted' } }, spec: MANAGED },
    /annotations\[switchyard\.dev\/origin-name\]: is written/,
  ),

  patched('a record put on a waiting Job', 'waiting', annotated(ADMISSION_ANNOTATION, FORGED), RECORD),
  patched('a record put on a plain Job', 'plain', annotated(ADMISSION_ANNOTATION, FORGED), RECORD),
  patched('a record changed', 'admitted', annotated(ADMISSION_ANNOTATION, FORGED), RECORD),
  patched('a record taken away', 'admitted', annotated(ADMISSION_ANNOTATION, null), RECORD),
  patched('all annotations taken away', 'admitted', merge({ metadata: { annotations: null } }), RECORD),
  [
    'a record applied under the manager’s field manager',
    ({ tenant }) => {
      const body = { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...key('waiting'), ...forged } };
      return tenant.patch(JOBS, key('waiting'), { type: 'apply', body }, { fieldManager: MANAGER_FIELD_MANAGER });
    },
    RECORD,
  ],
  [
    'a record written past the rules without the right to',
    ({ tenant }) => tenant.patch(JOBS, key('waiting'), annotated(ADMISSION_ANNOTATION, FORGED), { fieldManager: OVERRIDE_FIELD_MANAGER }),
    RECORD,
  ],
  statusPatched('a record carried along by a write of the status', 'waiting', annotated(ADMISSION_ANNOTATION, FORGED), RECORD),
  statusPatched('a record carried along by a write of a plain Job’s status', 'plain', annotated(ADMISSION_ANNOTATION, FORGED), RECORD),
  statusPatched(
    'a queue carried along by a write of a plain Job’s status',
    'plain',
    merge({ metadata: QUEUED }),
    /cannot be added to an existing Job/,
  ),
  statusPatched('a status told to the manager', 'admitted', merge({ status: { active: 0 } }), /status: is written by Switchyard only/),
  statusPatched('a status told of a waiting Job', 'waiting', merge({ status: { active: 1 } }), /status: is written by Switchyard only/),
  statusPatched('a status told of a copy', 'copy', merge({ status: { active: 1 } }), /status: is written by Switchyard only/),

  patched('a waiting Job released', 'waiting', merge({ spec: { suspend: false } }), /spec\.suspend: is set to false by the manager/),
  patched('an admitted Job grown', 'admitted', merge({ spec: { parallelism: 10 } }), /spec\.parallelism: cannot/),
  patched(
    'an admitted Job moved to another queue',
    'admitted',
    merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'other' } } }),
    /cannot be changed/,
  ),
  patched('a waiting Job taken out of its queue', 'waiting', merge({ metadata: { labels: null } }), /cannot be removed/),
  patched('a plain Job given a queue', 'plain', merge({ metadata: QUEUED }), /cannot be added to an existing Job/),
  patched(
    'the finalizer taken off',
    'admitted',
    merge({ metadata: { finalizers: null } }),
    /finalizers\[switchyard\.dev\/copies\]: is written/,
  ),
  patched(
    'the finalizer put on',
    'plain',
    merge({ metadata: { finalizers: [COPIES_FINALIZER] } }),
    /finalizers\[switchyard\.dev\/copies\]/,
  ),
  patched('a submission claimed later', 'waiting', annotated(SUBMISSION_ANNOTATION, '7'), /submission\]: is written/),
  patched('another submission claimed', 'submitted', annotated(SUBMISSION_ANNOTATION, '8'), /submission\]: is written/),
  patched('a Job made somebody’s copy', 'plain', annotated(ORIGIN_NAME_ANNOTATION, 'admitted'), /origin-name\]: is written/),
  patched('a copy made one of another Job', 'copy', annotated(ORIGIN_UID_ANNOTATION, 'v'), /origin-uid\]: is written/),
  patched('a copy made no copy', 'copy', merge({ metadata: { labels: null } }), /labels\[switchyard\.dev\/origin\]: is written/),
  patched(
    'a waiting Job released and taken out of its queue at once',
    'waiting',
    merge({ metadata: { labels: null }, spec: { suspend: false } }),
    /spec\.suspend: is set to false by the manager|cannot be removed/,
  ),
  patched(
    'a queue label that is another one to the API server',
    'waiting',
    merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: null, 'switchyard.dev/Queue-Name': 'main' } } }),
    /cannot be removed/,
  ),
  patched('a queue emptied', 'waiting', merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: '' } } }), /cannot be removed/),
  statusPatched(
    'a queue taken away by a write of the status',
    'waiting',
    merge({ metadata: { labels: null } }),
    /cannot be removed|status: is written/,
  ),
  patched(
    'a Job of the manager’s released that no label gives away',
    'unqueued',
    merge({ spec: { suspend: false } }),
    /spec\.suspend: is set/,
  ),
  statusPatched(
    'a status told of a Job of the manager’s that no label gives away',
    'unqueued',
    merge({ status: { active: 1 } }),
    /status: is written by Switchyard only/,
  ),
  patched('a record put on a plain Job among thousands of names', 'plain', merge({ metadata: { ...PADDING, ...forged } }), RECORD),
  created(
    'among thousands of labels that claims to be a copy',
    { metadata: { labels: { ...PADDING.labels, [ORIGIN_LABEL]: 'home' } } },
    /labels\[switchyard\.dev\/origin\]: is written/,
  ),
  patched(
    'a copy grown and made no copy at once',
    'copy',
    merge({ metadata: { labels: null }, spec: { parallelism: 50 } }),
    /labels\[switchyard\.dev\/origin\]: is written|spec: of a copy follows/,
  ),
  patched('a copy grown', 'copy', merge({ spec: { parallelism: 50 } }), /spec: of a copy follows/),
];

describe.each(['webhook', 'policies'] as const)('with the %s in force', (guard) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(guard);
    await createJobs(world);
  }, TIME_LIMIT_MS);
  afterAll(() => world.close());

  const stored = async (): Promise<string[]> =>
    (await world.tenant.list(JOBS, { namespace: NAMESPACE })).items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);

  test.each(ATTACKS)('%s is refused, with the reason', { timeout: TIME_LIMIT_MS }, async (_sentence, attempt, refusal) => {
    const before = await stored();
    await expect(attempt(world)).rejects.toThrow(refusal);
    expect(await stored()).toEqual(before);
  });

  test('the manager’s identity in other hands is nobody’s but a user’s', { timeout: TIME_LIMIT_MS }, async () => {
    const patch = annotated(ADMISSION_ANNOTATION, FORGED);
    await expect(world.manager.patch(JOBS, key('waiting'), patch, { fieldManager: 'kubectl-patch' })).rejects.toThrow(RECORD);
    await expect(world.manager.patch(JOBS, key('waiting'), patch)).rejects.toThrow(RECORD);
    expect(world.shared).toEqual(guard === 'webhook' ? [`${MANAGER_USERNAME} as kubectl-patch`, `${MANAGER_USERNAME} as `] : []);
  });

  test('the worker tells the status of copies, and of nothing else', { timeout: TIME_LIMIT_MS }, async () => {
    const told = merge({ status: { active: 1, startTime: '2026-01-01T00:00:00Z' } });
    expect((await world.worker.patchStatus(JOBS, key('copy'), told)).status?.active).toBe(1);
    await expect(world.worker.patchStatus(JOBS, key('admitted'), told)).rejects.toThrow(/status: is written/);
    await expect(world.worker.patch(JOBS, key('copy'), merge({ spec: { suspend: true } }))).rejects.toThrow(/spec: of a copy/);
  });

  test('a person does with a Job what a person may', { timeout: TIME_LIMIT_MS }, async () => {
    const { tenant, manager } = world;
    await tenant.patch(JOBS, key('waiting'), merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'other', mine: 'yes' } } }));
    await tenant.patch(
      JOBS,
      key('waiting'),
      merge({ metadata: { annotations: { [PRIORITY_ANNOTATION]: '5', [CLUSTERS_ANNOTATION]: 'east' } } }),
    );
    await tenant.patch(JOBS, key('plain'), merge({ spec: { parallelism: 9, suspend: true } }));
    await tenant.patchStatus(JOBS, key('plain'), merge({ status: { ready: 0 } }));
    await tenant.patch(JOBS, key('admitted'), merge({ spec: { parallelism: 1 } }));
    await tenant.patch(JOBS, key('admitted'), merge({ metadata: { labels: { mine: 'yes' } } }));
    // Suspended by the same write, it may grow.
    await tenant.patch(JOBS, key('admitted'), merge({ spec: { parallelism: 10, suspend: true } }));
    await tenant.delete(JOBS, key('admitted'), { propagationPolicy: 'Foreground' });
    // The garbage collector takes off what is its own, and the manager what is the manager's.
    const finalizersOf = async (): Promise<readonly string[]> => (await tenant.get(JOBS, key('admitted'))).metadata.finalizers ?? [];
    await expect.poll(finalizersOf, { timeout: TIME_LIMIT_MS }).toEqual([COPIES_FINALIZER]);
    await expect(tenant.patch(JOBS, key('admitted'), merge({ metadata: { finalizers: null } }))).rejects.toThrow(/copies\]: is written/);
    await manager.patch(JOBS, key('admitted'), merge({ metadata: { finalizers: null } }), byManager);
    for (const name of ['waiting', 'plain', 'submitted', 'copy', 'unqueued'])
      await tenant.delete(JOBS, key(name), { propagationPolicy: 'Background' });
    expect(await stored()).toEqual([]);
  });
});
