/**
 * Somebody has copied the token of the manager's account, and says of each write that it is the manager's. They want pods of their own, on
 * the manager cluster and with the rights of others. The account has what the chart renders, on an API server that listens.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { JOB_SET_DEFINITION, JOB_SETS } from '../../manager/cli/local/job-set/definition.ts';
import type { Job, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  COPIES_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, JOBS, NAMESPACES, PODS, SECRETS, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ofKind, renderChart, type Rendered } from '../support/helm.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';
import { CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
const DENIED = 'config.deniedNamespaces={kube-*,vault,istio-*}';
const DESCRIBED = ['kinds={JobSet,RayJob}', 'ownKinds={crews.example.com}'];
const ACCOUNT = { namespace: 'switchyard', name: 'test-switchyard-manager' };
const CERTIFICATES = 'test-switchyard-manager-certificates';
const OWN = { namespace: '', name: 'test-switchyard-manager' };
const TOKEN_SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'switchyard', name: 'mine', annotations: { 'kubernetes.io/service-account.name': CERTIFICATES } },
  type: 'kubernetes.io/service-account-token',
};
const SUBMITTER = 'system:serviceaccount:other:switchyard-submitter';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const kind = (group: string, name: string, plural: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const CLUSTER_ROLE_BINDINGS = kind(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', false);
const CLUSTER_ROLES = kind(RBAC, 'ClusterRole', 'clusterroles', false);
const POLICIES = kind(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false);
const WEBHOOKS = kind(ADMISSION, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', false);
const KINDS = [
  kind('', 'ServiceAccount', 'serviceaccounts', true),
  CLUSTER_ROLES,
  CLUSTER_ROLE_BINDINGS,
  kind(RBAC, 'Role', 'roles', true),
  kind(RBAC, 'RoleBinding', 'rolebindings', true),
  POLICIES,
  kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
];

let server: ServerUnderTest;
let admin: KubeClient;
let thief: KubeClient;
let thiefsTransport: Transport;
let asSubmitter: KubeClient;

const aJob = (namespace: string, name: string, spec: object, metadata: object = {}): Unsaved<Job> =>
  ({
    metadata: { namespace, name, ...metadata },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }, ...spec },
  }) as Unsaved<Job>;
const MANAGED = { managedBy: MANAGER_CONTROLLER_NAME, suspend: true };
const QUEUED = { labels: { [QUEUE_NAME_LABEL]: 'main' } };
const RAY_JOBS: Resource<WorkObject> = { group: 'ray.io', version: 'v1', plural: 'rayjobs', kind: 'RayJob', namespaced: true };
const RAY_JOB_DEFINITION = {
  metadata: { name: 'rayjobs.ray.io' },
  spec: {
    ...CREW_DEFINITION.spec,
    group: 'ray.io',
    names: { plural: 'rayjobs', singular: 'rayjob', kind: 'RayJob', listKind: 'RayJobList' },
  },
};
const AS_THE_MANAGER = { fieldManager: MANAGER_FIELD_MANAGER };
const merge = (body: object): Patch => ({ type: 'merge', body });
/** What Kubernetes lets users change of the template of a Job that is suspended; the account and the image of its pods never change. */
const otherNodes = merge({ spec: { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': 'control-plane' } } } } });
const FOREIGN = { namespace: 'other', name: 'foreign' };
const OURS = { namespace: 'other', name: 'ours' };

beforeAll(async () => {
  server = await startServerUnderTest();
  admin = server.client;
  for (const name of ['switchyard', 'team', 'other', 'vault', 'istio-system', 'vaults'])
    await admin.create(NAMESPACES, { metadata: { name } });
  for (const definition of [JOB_SET_DEFINITION, CREW_DEFINITION, RAY_JOB_DEFINITION])
    await admin.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(definition) as never);
  const shared = ['config.submissionQueue=switchyard-submissions', 'config.submissionNamespaces={team}'];
  const rendered = renderChart('manager', ...shared, ...DESCRIBED, DENIED);
  for (const resource of KINDS) for (const object of ofKind(rendered, resource.kind)) await admin.create(resource, object as never);
  const answer = await admin.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${ACCOUNT.namespace}/serviceaccounts/${ACCOUNT.name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const { token } = (JSON.parse(answer) as { status: { token: string } }).status;
  const kubeconfig = parse(server.kubeconfig) as { users: { user: object }[] };
  for (const each of kubeconfig.users) each.user = { token };
  thiefsTransport = createHttpTransport(accessFromKubeconfig({ kind: 'text', yaml: stringify(kubeconfig) }, systemClock), silentLogger);
  thief = createKubeClient(thiefsTransport, { userAgent: 'thief', clock: systemClock });
  asSubmitter = createKubeClient(thiefsTransport, { userAgent: 'thief', clock: systemClock, actAs: { user: SUBMITTER } });
  await admin.create(WEBHOOKS, { metadata: { name: OWN.name }, webhooks: [] } as never);
  await admin.create(JOBS, aJob(FOREIGN.namespace, FOREIGN.name, { suspend: true }));
  await admin.create(JOBS, aJob(OURS.namespace, OURS.name, MANAGED, QUEUED));
  // An API server learns of policies by a watch, and lets writes pass until then.
  const plain = aJob('team', 'probe', { suspend: true });
  const isRefused = (): Promise<boolean> => thief.create(JOBS, plain, { dryRun: true, ...AS_THE_MANAGER }).then(() => false, isByPolicy);
  await vi.waitUntil(isRefused, { timeout: 60_000, interval: 100 });
});
afterAll(async () => {
  await thief.close();
  await server.close();
});
const isByPolicy = (error: unknown): boolean => /ValidatingAdmissionPolicy/.test(String(error));

type Attempt = () => Promise<unknown>;
const refused = async (attempt: Attempt, why: RegExp): Promise<void> => expect(attempt()).rejects.toThrow(why);
const creating =
  (job: Unsaved<Job>): Attempt =>
  () =>
    thief.create(JOBS, job, AS_THE_MANAGER);
const patching =
  (key: { namespace: string; name: string }, patch: Patch): Attempt =>
  () =>
    thief.patch(JOBS, key, patch, AS_THE_MANAGER);
const sending =
  (method: 'POST' | 'DELETE', path: string, body?: object): Attempt =>
  () =>
    thief.raw({ method, path, ...(body === undefined ? {} : { body }) });
const FORBIDDEN = /is forbidden: User "system:serviceaccount:switchyard:test-switchyard-manager" cannot/;
const NOT_MANAGED = /must be switchyard.dev\/manager, and spec.suspend true/;
const NOT_OURS = /neither changes nor deletes it/;

type Described = { readonly resource: Resource<WorkObject>; readonly spec: object; readonly foreign: object; readonly change: object };
const POD = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
const RAY = { entrypoint: 'a', rayClusterSpec: { headGroupSpec: { template: POD } } };
const replicatedJobs = [{ name: 'one', template: { spec: { template: POD } } }];
const KINDS_OF_CHART: readonly Described[] = [
  {
    resource: JOB_SETS as unknown as Resource<WorkObject>,
    spec: { ...MANAGED, replicatedJobs },
    foreign: { replicatedJobs, suspend: true },
    change: { replicatedJobs: [{ ...replicatedJobs[0], replicas: 9 }] },
  },
  {
    resource: RAY_JOBS,
    spec: { ...RAY, managedBy: 'kueue.x-k8s.io/multikueue', suspend: true },
    foreign: { ...RAY, managedBy: 'ray.io/kuberay-operator', suspend: true },
    change: { entrypoint: 'b' },
  },
];

describe.each(KINDS_OF_CHART)('a stolen manager token, of $resource.kind,', ({ resource, spec, foreign, change }) => {
  const [theirs, ours] = [FOREIGN, OURS].map(({ name }) => ({ namespace: 'team', name })) as [typeof FOREIGN, typeof OURS];
  const object = (key: { namespace: string; name: string }, given: object, metadata: object = {}): Unsaved<WorkObject> =>
    ({ metadata: { ...key, ...metadata }, spec: given }) as Unsaved<WorkObject>;
  const mine = (given: object, metadata: object = QUEUED, namespace = 'team') =>
    thief.create(resource, object({ namespace, name: 'mine' }, given, metadata), AS_THE_MANAGER);
  const patched = (key: typeof OURS, body: object) => thief.patch(resource, key, merge(body), AS_THE_MANAGER);

  beforeAll(async () => {
    await admin.create(resource, object(theirs, foreign));
    await admin.create(resource, object(ours, spec, QUEUED));
  });

  test('makes none that runs, none that its operator runs, and no copy where no worker runs copies', async () => {
    await refused(() => mine({ ...spec, suspend: false }), NOT_WAITING);
    await refused(() => mine({ ...spec, suspend: undefined }), NOT_WAITING);
    await refused(() => mine(foreign), NOT_WAITING);
    await refused(() => mine(foreign, {}), NOT_MADE);
    await refused(() => mine({ ...foreign, suspend: false }, { labels: { [ORIGIN_LABEL]: 'home' } }), NOT_MADE);
    await refused(() => mine(spec, {}), NOT_MADE);
    await refused(() => mine(spec, QUEUED, 'other'), FORBIDDEN);
    await refused(() => mine(spec, QUEUED, 'kube-system'), FORBIDDEN);
  });

  test('neither starts nor deletes one that is not of Switchyard, nor tells its status, nor makes it its own', async () => {
    await refused(() => patched(theirs, { spec: { suspend: false } }), NOT_OURS);
    await refused(
      () => patched(theirs, { spec: { managedBy: MANAGER_CONTROLLER_NAME } }),
      /neither changes nor deletes it|managedBy is immutable/,
    );
    for (const labels of [QUEUED.labels, { [ORIGIN_LABEL]: 'home' }])
      await refused(() => patched(theirs, { metadata: { labels } }), NOT_OURS);
    await refused(() => thief.patchStatus(resource, theirs, merge({ status: { failed: 1 } }), AS_THE_MANAGER), NOT_OURS);
    await refused(() => thief.delete(resource, theirs, { propagationPolicy: 'Background' }), NOT_OURS);
  });

  test('changes of one of Switchyard nothing that its user wrote, and gives it to no operator', async () => {
    await refused(() => patched(ours, { spec: change }), LEFT_AS_IT_IS);
    await refused(() => patched(ours, { spec: { ...change, suspend: false } }), LEFT_AS_IT_IS);
    await refused(() => patched(ours, { spec: { managedBy: 'example.com/operator' } }), /leaves all of it but spec.suspend|immutable/);
  });

  test('does not do so either once it has marked it as a copy, and taken its queue away', async () => {
    const key = { namespace: 'team', name: 'marked' };
    await admin.create(resource, object(key, spec, QUEUED));
    await patched(key, { metadata: { labels: { [ORIGIN_LABEL]: 'home' } } });
    await patched(key, { metadata: { labels: { [QUEUE_NAME_LABEL]: null } } });
    await refused(() => patched(key, { spec: change }), LEFT_AS_IT_IS);
    await refused(() => patched(key, { spec: { managedBy: 'example.com/operator', suspend: false } }), /leaves all of it but|immutable/);
  });

  test('is still good for what the manager does', async () => {
    await mine(spec);
    await patched(ours, { spec: { suspend: false }, metadata: { finalizers: [COPIES_FINALIZER] } });
    await thief.patchStatus(resource, ours, merge({ status: { conditions: [] } }), AS_THE_MANAGER);
    await patched(ours, { spec: { suspend: true }, metadata: { finalizers: null } });
    await thief.delete(resource, ours, { propagationPolicy: 'Background' });
  });
});
const NOT_WAITING = /and spec.suspend true, in a new (JobSet|RayJob) that the manager creates/;
const NOT_QUEUED = /queue-name\]: is missing, and the manager creates no objects without a queue/;
/** Two policies refuse it, and an API server tells of one. */
const NOT_MADE = new RegExp(`${NOT_WAITING.source}|${NOT_QUEUED.source}`);
const LEFT_AS_IT_IS = /spec: is the user’s, and the manager leaves all of it but spec.suspend as it is/;

test('of a kind that a user of the chart describes, a stolen manager token changes and deletes none without a mark of Switchyard', async () => {
  const crew = (name: string, metadata: object): Unsaved<WorkObject> =>
    ({ metadata: { namespace: 'team', name, ...metadata }, spec: { policy: { suspend: true } } }) as Unsaved<WorkObject>;
  const [theirs, ours] = [await admin.create(CREWS, crew('theirs', {})), await admin.create(CREWS, crew('ours', QUEUED))];
  const run = merge({ spec: { policy: { suspend: false } } });
  await refused(() => thief.patch(CREWS, theirs.metadata, run, AS_THE_MANAGER), NOT_OURS);
  await refused(() => thief.patch(CREWS, theirs.metadata, merge({ metadata: QUEUED }), AS_THE_MANAGER), NOT_OURS);
  await refused(() => thief.delete(CREWS, theirs.metadata), NOT_OURS);
  await thief.patch(CREWS, ours.metadata, run, AS_THE_MANAGER);
  await thief.delete(CREWS, ours.metadata);
});

describe('a stolen manager token', () => {
  const ofKubernetes = {
    template: { spec: { serviceAccountName: 'clusterrole-aggregation-controller', restartPolicy: 'Never', containers: [] } },
  };
  test.each<[string, Attempt, RegExp]>([
    ['makes no Job in kube-system', creating(aJob('kube-system', 'root', ofKubernetes)), FORBIDDEN],
    ['makes no Job where no shared queue leads, not even a waiting one', creating(aJob('other', 'mine', MANAGED, QUEUED)), FORBIDDEN],
    ['makes no Job that runs', creating(aJob('team', 'mine', {})), NOT_MANAGED],
    ['makes no Job that the Job controller would run later', creating(aJob('team', 'mine', { suspend: true })), NOT_MANAGED],
    [
      'makes no managed Job that is not suspended',
      creating(aJob('team', 'mine', { managedBy: MANAGER_CONTROLLER_NAME }, QUEUED)),
      NOT_MANAGED,
    ],
    ['makes no copy where no worker runs copies', creating(aJob('team', 'mine', {}, { labels: { [ORIGIN_LABEL]: 'home' } })), NOT_MANAGED],
    ['moves no Job that is not of Switchyard to other nodes', patching(FOREIGN, otherNodes), NOT_OURS],
    ['starts no such Job', patching(FOREIGN, merge({ spec: { suspend: false } })), NOT_OURS],
    ['makes no copy of it', patching(FOREIGN, merge({ metadata: { labels: { [ORIGIN_LABEL]: 'home' } } })), NOT_OURS],
    ['deletes no such Job', () => thief.delete(JOBS, FOREIGN, { propagationPolicy: 'Background' }), NOT_OURS],
    ['writes no status of such a Job', () => thief.patchStatus(JOBS, FOREIGN, merge({ status: { failed: 1 } }), AS_THE_MANAGER), NOT_OURS],
    ['changes no template of a Job of Switchyard', patching(OURS, otherNodes), /is the user’s, and the manager leaves it/],
    ['reads no Secret of another namespace', () => thief.get(SECRETS, { namespace: 'other', name: 'any' }), FORBIDDEN],
    [
      'makes no pod',
      () => thief.create(PODS, { metadata: { namespace: 'team', name: 'mine' }, spec: { containers: [] } } as never),
      FORBIDDEN,
    ],
    ['deletes no collection of Jobs', sending('DELETE', '/apis/batch/v1/namespaces/other/jobs'), FORBIDDEN],
    ['replaces no Job', async () => thief.replace(JOBS, await thief.get(JOBS, FOREIGN), AS_THE_MANAGER), FORBIDDEN],
    [
      'has no token of another account issued',
      sending('POST', '/api/v1/namespaces/switchyard/serviceaccounts/default/token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      }),
      FORBIDDEN,
    ],
    [
      'takes away no policy that holds it',
      () => thief.delete(POLICIES, { namespace: '', name: 'test-switchyard-manager-manager' }),
      FORBIDDEN,
    ],
    [
      'changes no webhook of somebody else',
      () => thief.patch(WEBHOOKS, { namespace: '', name: 'another' }, merge({ webhooks: [] })),
      FORBIDDEN,
    ],
    [
      'writes no webhook configuration of its own release, and so has no server of its own asked about anything',
      () => thief.patch(WEBHOOKS, OWN, merge({ webhooks: [] }), { dryRun: true }),
      FORBIDDEN,
    ],
    ['replaces none', async () => thief.replace(WEBHOOKS, await admin.get(WEBHOOKS, OWN), { dryRun: true }), FORBIDDEN],
    [
      'creates no Secret, such as one that receives the token of the account that may write them',
      () => thief.create(SECRETS, TOKEN_SECRET as never, { dryRun: true }),
      FORBIDDEN,
    ],
    [
      'creates none by a server-side apply either',
      () => thief.patch(SECRETS, TOKEN_SECRET.metadata, { type: 'apply', body: TOKEN_SECRET }, { ...AS_THE_MANAGER, dryRun: true }),
      /secrets "mine" is forbidden/,
    ],
    [
      'has no token of that account issued',
      sending('POST', `/api/v1/namespaces/switchyard/serviceaccounts/${CERTIFICATES}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      }),
      FORBIDDEN,
    ],
    [
      'does not act as that account',
      () =>
        createKubeClient(thiefsTransport, {
          userAgent: 'thief',
          clock: systemClock,
          actAs: { user: `system:serviceaccount:switchyard:${CERTIFICATES}` },
        }).list(JOBS),
      FORBIDDEN,
    ],
    ['binds no role', () => thief.create(CLUSTER_ROLE_BINDINGS, { metadata: { name: 'mine' } } as never), FORBIDDEN],
    [
      'acts as no account that the chart does not name',
      () =>
        createKubeClient(thiefsTransport, {
          userAgent: 'thief',
          clock: systemClock,
          actAs: { user: 'system:serviceaccount:kube-system:default' },
        }).list(JOBS),
      FORBIDDEN,
    ],
  ])('%s', async (_what, attempt, why) => refused(attempt, why));

  test('makes no Job in kube-* or a denied namespace either where the shared queue goes to all namespaces, and RBAC lets it', async () => {
    const [role] = ofKind(
      renderChart('manager', 'config.submissionQueue=jobs', 'config.submissionNamespaces={*}', ...DESCRIBED),
      'ClusterRole',
    ).filter(({ metadata }) => metadata.name === 'test-switchyard-manager-cluster');
    await admin.patch(CLUSTER_ROLES, { namespace: '', name: 'test-switchyard-manager-cluster' }, merge({ rules: role?.['rules'] }));
    await vi.waitUntil(() => creating(aJob('other', 'waiting', MANAGED, QUEUED))().then(() => true, isNoRightYet), {
      timeout: 60_000,
      interval: 100,
    });
    const jobSet = { metadata: { name: 'mine', ...QUEUED }, spec: { ...MANAGED, replicatedJobs } };
    const attempts = (namespace: string): Attempt[] => [
      creating(aJob(namespace, 'mine', MANAGED, QUEUED)),
      () => thief.create(JOB_SETS, { ...jobSet, metadata: { ...jobSet.metadata, namespace } } as never, AS_THE_MANAGER),
    ];
    for (const attempt of attempts('kube-system')) await refused(attempt, /belongs to Kubernetes itself/);
    for (const attempt of [...attempts('vault'), ...attempts('istio-system')])
      await refused(attempt, /is denied by --denied-namespaces .*, and the manager creates nothing there/);
    for (const attempt of attempts('vaults')) await attempt();
    await refused(creating(aJob('other', 'mine', {})), NOT_MANAGED);
  });

  test('is still good for what the manager does: waiting Jobs, and the Secrets, records and accounts that are its own', async () => {
    await creating(aJob('team', 'mine', MANAGED, QUEUED))();
    await patching(OURS, merge({ spec: { suspend: false } }))();
    await thief.delete(JOBS, OURS, { propagationPolicy: 'Background' });
    await admin.create(SECRETS, { metadata: { namespace: 'switchyard', name: 'east-kubeconfig' } });
    await thief.get(SECRETS, { namespace: 'switchyard', name: 'east-kubeconfig' });
    // The submitter has no rights of its own here, and that is what the refusal is about.
    await expect(asSubmitter.create(JOBS, aJob('other', 'theirs', MANAGED))).rejects.toThrow(`User "${SUBMITTER}" cannot create`);
  });

  test('makes no copy that runs as another account of its own namespace where its cluster is a worker cluster, too', async () => {
    const local = renderChart('manager', 'localWorker.enabled=true', 'localWorker.users={worker}');
    const isOfManager = ({ metadata }: Rendered): boolean => metadata.name === 'test-switchyard-manager-manager';
    const policy = ofKind(local, 'ValidatingAdmissionPolicy').find(isOfManager) as { spec?: object } | undefined;
    const role = ofKind(local, 'ClusterRole').find(({ metadata }) => metadata.name === 'test-switchyard-manager-cluster');
    await admin.patch(POLICIES, { namespace: '', name: 'test-switchyard-manager-manager' }, merge({ spec: policy?.spec }));
    await admin.patch(CLUSTER_ROLES, { namespace: '', name: 'test-switchyard-manager-cluster' }, merge({ rules: role?.['rules'] }));
    const copy = (namespace: string, name: string, account: object): Attempt =>
      creating(
        aJob(
          namespace,
          name,
          { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }], ...account } } },
          { labels: { [ORIGIN_LABEL]: 'home' } },
        ),
      );
    // RBAC and policies are learned by a watch.
    const isNotYet = (error: unknown): boolean => (FORBIDDEN.test(String(error)) || NOT_MANAGED.test(String(error)) ? false : fails(error));
    await vi.waitUntil(() => copy('other', 'copy', {})().then(() => true, isNotYet), { timeout: 60_000, interval: 100 });
    for (const account of [{ serviceAccountName: CERTIFICATES }, { serviceAccount: CERTIFICATES }, { serviceAccountName: ACCOUNT.name }])
      await refused(copy('switchyard', 'mine', account), /in its own namespace: the accounts there have rights of their own/);
    await copy('switchyard', 'copy', { serviceAccountName: 'default' })();
  });
});

const fails = (error: unknown): never => {
  throw error;
};
/** False while RBAC has not heard of the wider role; another refusal is thrown. */
const isNoRightYet = (error: unknown): boolean => (FORBIDDEN.test(String(error)) ? false : fails(error));
