/**
 * Somebody has copied a token of a worker cluster: that of the worker's account, or that of the manager's account there. They want other
 * pods, other Jobs, and a cluster that stands still. Both accounts have what the chart renders, on an API server that listens.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { originLeaseName, workerLeaseName } from '../../shared/api/fence-leases.ts';
import type { Job, OwnerReference, Pod, Unsaved } from '../../shared/api/kubernetes.ts';
import { logTailsName } from '../../shared/api/log-tails.ts';
import {
  DEFAULT_LEASE_NAMESPACE,
  JOB_TRACKING_FINALIZER,
  JOB_UID_VARIABLE,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  JOBS,
  LEASES,
  NAMESPACES,
  PODS,
  SECRETS,
  type Resource,
} from '../../shared/api/resources.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ofKind, renderChart } from '../support/helm.ts';
import { CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
const WORKER = 'test-switchyard-worker';
const MANAGER = 'test-switchyard-worker-manager-access';

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
const SERVICE_ACCOUNTS = kind('', 'ServiceAccount', 'serviceaccounts', true);
const KINDS = [
  SERVICE_ACCOUNTS,
  kind(RBAC, 'ClusterRole', 'clusterroles', false),
  CLUSTER_ROLE_BINDINGS,
  kind(RBAC, 'Role', 'roles', true),
  kind(RBAC, 'RoleBinding', 'rolebindings', true),
  kind(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
];

let server: ServerUnderTest;
let admin: KubeClient;
let worker: KubeClient;
let manager: KubeClient;

const POD_SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] };
const aJob = (namespace: string, name: string, spec: object, metadata: object = {}): Unsaved<Job> =>
  ({ metadata: { namespace, name, ...metadata }, spec: { template: { spec: POD_SPEC }, ...spec } }) as Unsaved<Job>;
const aPod = (namespace: string, name: string, metadata: object = {}): Unsaved<Pod> =>
  ({ metadata: { namespace, name, ...metadata }, spec: POD_SPEC }) as Unsaved<Pod>;
const aLease = (name: string, namespace = DEFAULT_LEASE_NAMESPACE): never =>
  ({ metadata: { namespace, name }, spec: { holderIdentity: 'theirs' } }) as never;
const aMap = (namespace: string, name: string): never => ({ metadata: { namespace, name } }) as never;
const BY_WORKER = { managedBy: WORKER_CONTROLLER_NAME, suspend: true };
const COPY = { labels: { [ORIGIN_LABEL]: 'home' } };
const SAYS_IN_TEMPLATE = {
  template: { spec: { ...POD_SPEC, containers: [{ name: 'main', image: 'busybox', env: [{ name: JOB_UID_VARIABLE, value: 'u' }] }] } },
};
const CONTROLLED: OwnerReference = { apiVersion: 'batch/v1', kind: 'Job', name: 'copy', uid: 'uid-of-copy', controller: true };
const OF_JOB = { ownerReferences: [CONTROLLED] };
const ofCopy = ({ metadata: { uid } }: Job): { ownerReferences: OwnerReference[] } => ({ ownerReferences: [{ ...CONTROLLED, uid }] });
/** There for as long as the test, so that no garbage collector takes what it owns. */
const OTHER_OWNER: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'uid-of-owner', controller: true };
const OF_REPLICA_SET = { ownerReferences: [{ ...CONTROLLED, apiVersion: 'apps/v1', kind: 'ReplicaSet' }] };
const merge = (body: object): Patch => ({ type: 'merge', body });
const otherImage = merge({ spec: { containers: [{ name: 'main', image: 'mine' }] } });
const labelled = merge({ metadata: { labels: COPY.labels } });
const at = (name: string, namespace = 'team'): { namespace: string; name: string } => ({ namespace, name });

async function clientOf(account: string): Promise<KubeClient> {
  const answer = await admin.raw({
    method: 'POST',
    path: `/api/v1/namespaces/switchyard/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const { token } = (JSON.parse(answer) as { status: { token: string } }).status;
  const kubeconfig = parse(server.kubeconfig) as { users: { user: object }[] };
  for (const each of kubeconfig.users) each.user = { token };
  const access = accessFromKubeconfig({ kind: 'text', yaml: stringify(kubeconfig) }, systemClock);
  return createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'thief', clock: systemClock });
}

beforeAll(async () => {
  // Of upstream's controllers one would take what is left behind from the worker.
  server = await startServerUnderTest({ controllers: [], whoseControllers: 'ours' });
  admin = server.client;
  for (const name of ['switchyard', 'team', 'vault', 'istio-system', 'vaults', DEFAULT_LEASE_NAMESPACE])
    await admin.create(NAMESPACES, { metadata: { name } });
  // Pods name the account of their namespace, which no controller makes here.
  for (const namespace of ['team', 'kube-system', 'vault', 'istio-system'])
    await admin.create(SERVICE_ACCOUNTS, { metadata: { namespace, name: 'default' } });
  for (const definition of [CREW_DEFINITION, VOLCANO_DEFINITION]) await admin.create(CUSTOM_RESOURCE_DEFINITIONS, definition as never);
  const rendered = renderChart(
    'worker',
    'config.deniedNamespaces={kube-*,vault,istio-*}',
    'managerAccess.kinds={crews.example.com,jobs.batch.volcano.sh}',
  );
  for (const resource of KINDS) for (const object of ofKind(rendered, resource.kind)) await admin.create(resource, object as never);
  [worker, manager] = [await clientOf(WORKER), await clientOf(MANAGER)];
  await admin.create(JOBS, aJob('team', 'foreign', { suspend: true }));
  const copy = await admin.create(JOBS, aJob('team', 'copy', BY_WORKER, COPY));
  const owner = await admin.create(CONFIG_MAPS, aMap('team', 'owner'));
  await admin.create(JOBS, aJob('team', 'without-label', BY_WORKER, { annotations: { [ORIGIN_UID_ANNOTATION]: 'u' } }));
  await admin.create(JOBS, aJob('team', 'without-marks', { ...BY_WORKER, ...SAYS_IN_TEMPLATE }));
  await admin.create(PODS, aPod('team', 'web', { ownerReferences: [{ ...OTHER_OWNER, uid: owner.metadata.uid }] }));
  await admin.create(PODS, aPod('team', 'bare'));
  await admin.create(PODS, aPod('team', 'to-adopt'));
  await admin.create(PODS, aPod('kube-system', 'static'));
  await admin.create(PODS, aPod('vault', 'static'));
  const there = await admin.create(JOBS, aJob('vault', 'copy', BY_WORKER, COPY));
  await admin.create(PODS, aPod('vault', 'from-before', ofCopy(there)));
  await admin.create(PODS, aPod('team', 'of-copy', ofCopy(copy)));
  await admin.create(PODS, aPod('team', 'left-behind', { finalizers: [JOB_TRACKING_FINALIZER] }));
  await vi.waitUntil(isServed, { timeout: 60_000, interval: 100 });
  for (const resource of [CREWS, VOLCANO_JOBS]) await admin.create(resource, aCrewOf('theirs'));
  const crew = await admin.create(CREWS, aCrewOf('crew', COPY));
  const ofCrew = {
    ownerReferences: [{ ...OTHER_OWNER, apiVersion: 'example.com/v1', kind: 'Crew', name: 'crew', uid: crew.metadata.uid }],
  };
  await admin.create(PODS, { ...aPod('team', 'of-crew', ofCrew), spec: SAYS_IN_TEMPLATE.template.spec } as never);
  await admin.create(LEASES, aLease('kube-scheduler', 'kube-system'));
  for (const name of ['kube-scheduler', originLeaseName('home'), workerLeaseName(WORKER_CONTROLLER_NAME)])
    await admin.create(LEASES, aLease(name));
  for (const name of ['aws-auth', 'coredns']) await admin.create(CONFIG_MAPS, aMap('kube-system', name));
  for (const name of ['theirs', logTailsName('of-copy')]) await admin.create(CONFIG_MAPS, aMap(DEFAULT_LEASE_NAMESPACE, name));
  // An API server learns of policies by a watch, and lets writes pass until then.
  const byPolicy = (attempt: Attempt) => (): Promise<boolean> => attempt().then(() => false, isByPolicy);
  for (const probe of [
    () => worker.create(PODS, aPod('team', 'probe'), { dryRun: true }),
    () => manager.create(JOBS, aJob('team', 'probe', {}), { dryRun: true }),
  ])
    await vi.waitUntil(byPolicy(probe), { timeout: 60_000, interval: 100 });
});
afterAll(async () => {
  await worker.close();
  await manager.close();
  await server.close();
});
const aCrewOf = (name: string, metadata: object = {}): never => ({ metadata: { namespace: 'team', name, ...metadata }, spec: {} }) as never;
const aCrewIn = (namespace: string): never => ({ metadata: { namespace, name: 'mine', ...COPY }, spec: {} }) as never;
const isServed = (): Promise<boolean> =>
  Promise.all([CREWS, VOLCANO_JOBS].map((resource) => admin.list(resource, { namespace: 'team' }))).then(
    () => true,
    () => false,
  );
/** A kind that is called as Jobs are, of another group. */
const VOLCANO_JOBS: Resource = { group: 'batch.volcano.sh', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
const VOLCANO_DEFINITION = {
  metadata: { name: 'jobs.batch.volcano.sh' },
  spec: {
    ...CREW_DEFINITION.spec,
    group: VOLCANO_JOBS.group,
    names: { plural: 'jobs', singular: 'job', kind: 'Job', listKind: 'JobList' },
  },
};
const suspended = merge({ spec: { policy: { suspend: true } } });
const isByPolicy = (error: unknown): boolean => /ValidatingAdmissionPolicy/.test(String(error));

type Attempt = () => Promise<unknown>;
const FORBIDDEN = /is forbidden: User "system:serviceaccount:switchyard:test-switchyard-worker[a-z-]*" cannot/;
const renewing =
  (client: () => KubeClient, name: string, namespace = DEFAULT_LEASE_NAMESPACE): Attempt =>
  async () => {
    const lease = await admin.get(LEASES, at(name, namespace));
    return client().replace(LEASES, { ...lease, spec: { holderIdentity: 'theirs' } } as never);
  };
const theWorker = (): KubeClient => worker;
const theManager = (): KubeClient => manager;

const EVICTION = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace: 'team', name: 'web' } };
const TOKEN_REQUEST = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };

describe('a stolen token of the worker', () => {
  const sending =
    (method: 'POST' | 'DELETE', path: string, body?: object): Attempt =>
    () =>
      worker.raw({ method, path, ...(body === undefined ? {} : { body }) });
  const NO_JOBS_POD = /names no Job as the controller/;
  const NO_PODS_THERE = /is denied by --denied-namespaces .*, and the worker starts no pods there/;
  const patching =
    (key: { namespace: string; name: string }, patch: Patch): Attempt =>
    () =>
      worker.patch(PODS, key, patch);
  test.each<[string, Attempt, RegExp]>([
    ['makes no pod of its own', () => worker.create(PODS, aPod('team', 'mine')), NO_JOBS_POD],
    ['makes no pod that another controller owns', () => worker.create(PODS, aPod('team', 'mine', OF_REPLICA_SET)), NO_JOBS_POD],
    ['makes no pod in kube-system', () => worker.create(PODS, aPod('kube-system', 'mine')), NO_JOBS_POD],
    [
      'makes no pod there either that says it is of a Job',
      () => worker.create(PODS, aPod('kube-system', 'mine', OF_JOB)),
      /belongs to Kubernetes itself/,
    ],
    ['deletes no pod that is not of a Job', () => worker.delete(PODS, at('web')), NO_JOBS_POD],
    ['suspends no object of another kind that is no copy', () => worker.patch(CREWS, at('theirs'), suspended), /suspends copies alone/],
    ['deletes no object of another kind', () => worker.delete(CREWS, at('crew')), FORBIDDEN],
    ['creates none', () => worker.create(CREWS, aCrewOf('mine', COPY)), FORBIDDEN],
    [
      'changes no pod that an operator has made for a copy',
      patching(at('of-crew'), merge({ metadata: { labels: { a: 'b' } } })),
      NO_JOBS_POD,
    ],
    ['deletes no pod without a controller', () => worker.delete(PODS, at('bare')), NO_JOBS_POD],
    ['changes no pod of another controller, nor makes it a Job’s', patching(at('web'), merge({ metadata: OF_JOB })), NO_JOBS_POD],
    ['adopts no pod of kube-system', patching(at('static', 'kube-system'), merge({ metadata: OF_JOB })), /belongs to Kubernetes itself/],
    ['makes no pod in a namespace that is denied', () => worker.create(PODS, aPod('vault', 'mine', OF_JOB)), NO_PODS_THERE],
    ['nor in one that is denied by its beginning', () => worker.create(PODS, aPod('istio-system', 'mine', OF_JOB)), NO_PODS_THERE],
    ['adopts no pod there', patching(at('static', 'vault'), merge({ metadata: OF_JOB })), NO_PODS_THERE],
    ['puts no image of its own into a pod of a Job', patching(at('of-copy'), otherImage), /the worker leaves it as it is/],
    ['patches no aws-auth', () => worker.patch(CONFIG_MAPS, at('aws-auth', 'kube-system'), merge({ data: { mapRoles: '' } })), FORBIDDEN],
    ['patches no coredns', () => worker.patch(CONFIG_MAPS, at('coredns', 'kube-system'), merge({ data: { Corefile: '' } })), FORBIDDEN],
    ['makes no ConfigMap beside a copy', () => worker.create(CONFIG_MAPS, aMap('team', logTailsName('u'))), FORBIDDEN],
    ['lists no ConfigMaps of a tenant', () => worker.list(CONFIG_MAPS, { namespace: 'team' }), FORBIDDEN],
    [
      'makes no ConfigMap of another name where the ends of logs are',
      () => worker.create(CONFIG_MAPS, aMap(DEFAULT_LEASE_NAMESPACE, 'mine')),
      /is not that of the ends of logs/,
    ],
    [
      'deletes none that is there',
      () => worker.delete(CONFIG_MAPS, at('theirs', DEFAULT_LEASE_NAMESPACE)),
      /is not that of the ends of logs/,
    ],
    ['takes no Lease of kube-scheduler', renewing(theWorker, 'kube-scheduler', 'kube-system'), FORBIDDEN],
    ['makes no Lease in kube-system', () => worker.create(LEASES, aLease(workerLeaseName('example.com/x'), 'kube-system')), FORBIDDEN],
    ['renews no Lease of a manager, whose copies then would run on', renewing(theWorker, originLeaseName('home')), FORBIDDEN],
    [
      'makes no Lease beside its own, that of a manager for one',
      () => worker.create(LEASES, aLease(originLeaseName('mine'))),
      /is not that of a Lease of this worker/,
    ],
    [
      'writes no status of a Job that another controller runs',
      () => worker.get(JOBS, at('foreign')).then((job) => worker.replaceStatus(JOBS, { ...job, status: { active: 1 } } as never)),
      /the worker writes no status of Jobs that others run/,
    ],
    ['reads no Secret', () => worker.get(SECRETS, at('any')), FORBIDDEN],
    ['deletes no collection of pods', sending('DELETE', '/api/v1/namespaces/team/pods'), FORBIDDEN],
    ['evicts no pod', sending('POST', '/api/v1/namespaces/team/pods/web/eviction', EVICTION), FORBIDDEN],
    ['runs nothing in a pod', sending('POST', '/api/v1/namespaces/team/pods/web/exec?command=sh&container=main'), FORBIDDEN],
    [
      'has no token of another account issued',
      sending('POST', '/api/v1/namespaces/team/serviceaccounts/default/token', TOKEN_REQUEST),
      FORBIDDEN,
    ],
    [
      'suspends no Job of another group that is no copy',
      () => worker.patch(VOLCANO_JOBS, at('theirs'), suspended),
      /the worker suspends copies alone/,
    ],
    ['creates no Job', () => worker.create(JOBS, aJob('team', 'mine', BY_WORKER)), FORBIDDEN],
    ['binds no role', () => worker.create(CLUSTER_ROLE_BINDINGS, { metadata: { name: 'mine' } } as never), FORBIDDEN],
  ])('%s', async (_what, attempt, why) => expect(attempt()).rejects.toThrow(why));

  test('is still good for what the worker does: pods of Jobs, their status, copies of other kinds, ends of logs, and its own Leases', async () => {
    const copy = await worker.get(JOBS, at('copy'));
    await worker.create(PODS, aPod('team', 'next', ofCopy(copy)));
    await worker.patch(PODS, at('to-adopt'), merge({ metadata: ofCopy(copy) }));
    await worker.patch(PODS, at('next'), merge({ metadata: { ownerReferences: null } }));
    await worker.patch(PODS, at('left-behind'), merge({ metadata: { finalizers: null } }));
    await worker.delete(PODS, at('of-copy'));
    await worker.patch(CREWS, at('crew'), suspended);
    await worker.delete(PODS, at('of-crew'));
    await worker.delete(PODS, at('from-before', 'vault'));
    await worker.replaceStatus(JOBS, { ...copy, status: { ready: 0 } } as never);
    const tails = at(logTailsName('u'), DEFAULT_LEASE_NAMESPACE);
    await worker.create(CONFIG_MAPS, { metadata: tails } as never);
    await worker.patch(CONFIG_MAPS, tails, merge({ binaryData: { pod: '' } }));
    await worker.delete(CONFIG_MAPS, tails);
    await renewing(theWorker, workerLeaseName(WORKER_CONTROLLER_NAME))();
    await worker.create(LEASES, aLease(workerLeaseName('example.com/other')));
    await worker.create(LEASES, { metadata: { namespace: 'switchyard', name: WORKER }, spec: {} } as never);
  });
});

describe('a stolen token of the manager on a worker cluster', () => {
  const creating =
    (job: Unsaved<Job>): Attempt =>
    () =>
      manager.create(JOBS, job);
  const NO_COPY = /the manager creates copies alone/;
  const NO_COPIES_THERE = /is denied by --denied-namespaces of the worker .*, and the manager creates no Jobs there/;
  const NOT_OURS = /the manager neither changes nor deletes what is no copy/;
  test.each<[string, Attempt, RegExp]>([
    ['makes no plain Job', creating(aJob('team', 'mine', {})), NO_COPY],
    ['makes no Job for the built-in Job controller by calling it a copy', creating(aJob('team', 'mine', {}, COPY)), NO_COPY],
    ['makes no Job of the worker that is no copy', creating(aJob('team', 'mine', BY_WORKER)), NO_COPY],
    ['makes no copy in kube-system', creating(aJob('kube-system', 'mine', BY_WORKER, COPY)), /belongs to Kubernetes itself/],
    ['makes no copy in a namespace that the worker denies', creating(aJob('vault', 'mine', BY_WORKER, COPY)), NO_COPIES_THERE],
    ['nor in one that it denies by its beginning', creating(aJob('istio-system', 'mine', BY_WORKER, COPY)), NO_COPIES_THERE],
    ['starts no Job that is no copy', () => manager.patch(JOBS, at('foreign'), merge({ spec: { suspend: false } })), NOT_OURS],
    ['makes no copy of it', () => manager.patch(JOBS, at('foreign'), labelled), NOT_OURS],
    ['writes no status of it', () => manager.patchStatus(JOBS, at('foreign'), merge({ status: { failed: 1 } })), NOT_OURS],
    ['deletes no such Job', () => manager.delete(JOBS, at('foreign'), { propagationPolicy: 'Background' }), NOT_OURS],
    ['makes no object of another kind that is no copy', () => manager.create(CREWS, aCrewOf('mine')), NO_COPY],
    ['makes none in kube-system', () => manager.create(CREWS, aCrewIn('kube-system')), /belongs to Kubernetes itself/],
    ['starts none that is no copy', () => manager.patch(CREWS, at('theirs'), merge({ spec: { policy: { suspend: false } } })), NOT_OURS],
    ['makes no copy of it', () => manager.patch(CREWS, at('theirs'), labelled), NOT_OURS],
    ['deletes none', () => manager.delete(CREWS, at('theirs')), NOT_OURS],
    ['makes no Job of another group that is no copy', () => manager.create(VOLCANO_JOBS, aCrewOf('mine')), NO_COPY],
    ['starts none that is no copy, though it is called Job', () => manager.patch(VOLCANO_JOBS, at('theirs'), suspended), NOT_OURS],
    ['takes no Lease of kube-scheduler', renewing(theManager, 'kube-scheduler', 'kube-system'), FORBIDDEN],
    ['takes no Lease of another name', renewing(theManager, 'kube-scheduler'), /is not that of a Lease of a manager/],
    ['renews no Lease of the worker', renewing(theManager, workerLeaseName(WORKER_CONTROLLER_NAME)), /is not that of a Lease of a manager/],
    ['creates no pod', () => manager.create(PODS, aPod('team', 'mine')), FORBIDDEN],
    ['changes no ConfigMap', () => manager.patch(CONFIG_MAPS, at('coredns', 'kube-system'), merge({ data: {} })), FORBIDDEN],
    ['reads no ConfigMap of the cluster or of a tenant', () => manager.get(CONFIG_MAPS, at('coredns', 'kube-system')), FORBIDDEN],
    ['nor one beside a copy', () => manager.get(CONFIG_MAPS, at(logTailsName('u'))), FORBIDDEN],
    ['reads no Secret', () => manager.get(SECRETS, at('any')), FORBIDDEN],
    ['binds no role', () => manager.create(CLUSTER_ROLE_BINDINGS, { metadata: { name: 'mine' } } as never), FORBIDDEN],
  ])('%s', async (_what, attempt, why) => expect(attempt()).rejects.toThrow(why));

  test('is still good for what the manager does: copies, also damaged ones, ends of their logs, and its own Lease', async () => {
    await manager.create(JOBS, aJob('team', 'new-copy', BY_WORKER, COPY));
    await manager.create(CREWS, aCrewOf('new-copy', COPY));
    await manager.patch(CREWS, at('new-copy'), suspended);
    await manager.delete(CREWS, at('new-copy'));
    await manager.create(VOLCANO_JOBS, aCrewOf('new-copy', COPY));
    await worker.patch(VOLCANO_JOBS, at('new-copy'), suspended);
    await manager.delete(VOLCANO_JOBS, at('new-copy'));
    await manager.create(JOBS, aJob('vaults', 'new-copy', BY_WORKER, COPY));
    await manager.patch(JOBS, at('new-copy'), merge({ spec: { suspend: false } }));
    for (const name of ['without-label', 'without-marks']) await manager.patch(JOBS, at(name), labelled);
    await manager.patchStatus(JOBS, at('copy'), merge({ status: { ready: 0 } }));
    await manager.delete(JOBS, at('new-copy'), { propagationPolicy: 'Background' });
    await manager.get(CONFIG_MAPS, at(logTailsName('of-copy'), DEFAULT_LEASE_NAMESPACE));
    await renewing(theManager, originLeaseName('home'))();
    await manager.create(LEASES, aLease(originLeaseName('another')));
  });
});
