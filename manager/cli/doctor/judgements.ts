import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, KubeObject, LabelSelector, Lease, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { ClusterCondition, type WorkerCluster } from '../../api/worker-cluster.ts';
import { HAS_QUEUE_LABEL, UNLABELLED_WEBHOOK } from '../../policy/webhook-conditions.ts';
import { isPart } from '../../work-kind/kinds.ts';
import { formatWork } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { note, ok, versionCheck, wrong, type Check } from '../checks.ts';
import { thresholdOf, type SeenAlert } from './alerts.ts';

/** How what was read of an installation is: every function judges one thing, and names the remedy. */

export type Definition = KubeObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** `wanted` are the names of CustomResourceDefinitions, such as workerclusters.switchyard.dev; a cluster with a worker alone needs none. */
export function judgeDefinitions(found: readonly Definition[], wanted: readonly string[], hasWorkerAlone = false): Check {
  const missing = wanted.filter((name) => !found.some(({ metadata }) => metadata.name === name));
  if (missing.length === wanted.length && hasWorkerAlone)
    return note(
      'definitions',
      'none: this is a worker cluster, which needs none',
      '--context NAME of the manager cluster looks at the rest of the installation',
    );
  if (missing.length > 0)
    return wrong(
      'definitions',
      `not there: ${missing.join(', ')}`,
      'helm upgrade --install switchyard-manager (its crds.enabled must not be false)',
    );
  const refused = found.filter(
    ({ metadata, status }) => wanted.includes(metadata.name) && findCondition(status?.conditions, 'Established')?.status !== 'True',
  );
  return refused.length === 0
    ? ok('definitions', `all ${wanted.length} are served`)
    : wrong('definitions', `not served: ${refused.map(({ metadata }) => metadata.name).join(', ')}`, 'kubectl describe crd tells why');
}

/** A manager renews its Lease every two seconds; after fifteen another one takes over. */
const LEASE_FRESH_MS = 20_000;

/** `leases` are those of the manager's namespace. */
export function judgeManager(leases: readonly Lease[], namespace: string, nowMs: number): Check {
  const own = leases.filter(({ metadata }) => /(^|-)switchyard-manager$/.test(metadata.name) || metadata.name === 'switchyard-manager');
  const remedy = `kubectl -n ${namespace} get pods; --manager-namespace names another namespace`;
  // One that runs without --leader-elect, such as that of the quick start, has none.
  if (own.length === 0)
    return note('manager', `none has a Lease in namespace ${namespace}: there is none, or it takes part in no election`, remedy);
  const held = own.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '');
  const ageMs = Math.min(...held.map(({ spec }) => nowMs - Date.parse(spec?.renewTime ?? '')).filter(Number.isFinite));
  if (ageMs <= LEASE_FRESH_MS) return judgeLeader(held[0], nowMs);
  const since = Number.isFinite(ageMs) ? `for ${Math.round(ageMs / 1000)} s` : 'any more';
  return wrong(
    'manager',
    `nobody has renewed its Lease ${since}: nothing is admitted, and nothing dispatched`,
    remedy,
    'SwitchyardNoLeader',
  );
}

/** So many changes of the leader, the last one so lately, are no upgrade any more. */
const TRANSITIONS_MANY = thresholdOf('SwitchyardLeaderFlapping', 'changes', 6);
const LATELY_MS = 600_000;

function judgeLeader(lease: Lease | undefined, nowMs: number): Check {
  const { holderIdentity = '', leaseTransitions = 0, acquireTime = '' } = lease?.spec ?? {};
  const leadsMs = nowMs - Date.parse(acquireTime);
  if (leaseTransitions <= TRANSITIONS_MANY || !(leadsMs < LATELY_MS)) return ok('manager', `${holderIdentity} leads`);
  return note(
    'manager',
    `${holderIdentity} leads for ${Math.round(leadsMs / 1000)} s, after ${leaseTransitions} others`,
    'look at the logs of those that ended, and at the load of the API server',
    'SwitchyardLeaderFlapping',
  );
}

export type Webhook = DeepReadonly<{
  readonly name: string;
  readonly failurePolicy?: string;
  readonly clientConfig: { readonly caBundle?: string; readonly service?: { readonly namespace: string; readonly name: string } };
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly operations?: readonly string[];
  }[];
  readonly namespaceSelector?: WebhookSelector;
  readonly objectSelector?: WebhookSelector;
}>;
type WebhookSelector = {
  readonly matchLabels?: object;
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[];
};
export type WebhookConfiguration = KubeObject & { readonly webhooks?: readonly Webhook[] };

/** Our webhook by its name, whatever the release is called. */
const WEBHOOK_NAME = 'jobs.switchyard.dev';

const webhooksOf = (configurations: readonly WebhookConfiguration[]): Webhook[] =>
  configurations.flatMap(({ webhooks = [] }) => webhooks.filter(({ name }) => name === WEBHOOK_NAME));

/** That the Service which our webhook calls is not there. */
export const judgeServiceAbsence = (service: string): Check =>
  wrong(
    'webhook service',
    `Service ${service}, which the webhook calls, does not exist: Jobs with a queue cannot be created`,
    'helm upgrade switchyard-manager makes it anew; where nothing is installed any more, delete the webhook configurations (docs/uninstall.md)',
    'SwitchyardWebhookFailing',
  );

/** NAMESPACE/NAME of the Service that our webhook calls; undefined: it calls a URL, or there is no such webhook. */
export function calledService(configurations: readonly WebhookConfiguration[]): string | undefined {
  const [service] = webhooksOf(configurations).flatMap(({ clientConfig }) => clientConfig.service ?? []);
  return service && `${service.namespace}/${service.name}`;
}

export function judgeWebhooks(kind: 'mutating' | 'validating', configurations: readonly WebhookConfiguration[], hasPolicy: boolean): Check {
  const check = `${kind} webhook`;
  const ours = webhooksOf(configurations);
  const [webhook] = ours;
  const byCertManager = configurations.some(({ metadata, webhooks = [] }) => {
    const isInjected = Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith('cert-manager.io/inject-'));
    return isInjected && webhooks.some(({ name }) => name === WEBHOOK_NAME);
  });
  if (webhook === undefined)
    return kind === 'validating' && hasPolicy
      ? ok(check, 'none, and the admission policy holds its rules')
      : kind === 'mutating'
        ? note(
            check,
            'none: Jobs have to say spec.suspend and spec.managedBy themselves',
            'helm upgrade with webhook.enabled=true, or submit by switchyard submit, which writes both',
          )
        : wrong(
            check,
            'none, and no admission policy: whoever may write Jobs may write their records',
            'helm upgrade with webhook.enabled=true or admissionPolicy.enabled=true',
            'SwitchyardWebhookNotCovering',
          );
  if (ours.length > 1)
    return wrong(check, `${ours.length} of them: more than one installation looks at Jobs`, 'uninstall all but one (helm list -A)');
  if ((webhook.clientConfig.caBundle ?? '') === '')
    return wrong(
      check,
      'has no caBundle: the API server cannot trust it',
      byCertManager
        ? 'look at the Certificate of cert-manager, and whether its injector runs'
        : 'the pods of the Deployment whose name ends in -certificates write it: look at these and their log',
      'SwitchyardWebhookFailing',
    );
  const seesJobs = webhook.rules?.some(
    ({ apiGroups = [], resources = [], operations = [] }) =>
      apiGroups.includes('batch') && resources.includes('jobs') && operations.includes('CREATE'),
  );
  if (seesJobs !== true)
    return wrong(check, 'its rules do not cover new Jobs', 'helm upgrade writes them anew', 'SwitchyardWebhookNotCovering');
  const { leavesOutMore, leavesOutSystem } = leftOutBy(webhook);
  if (leavesOutMore)
    return note(check, 'some namespaces or Jobs are left out by its selectors', 'webhook.excludedNamespaces of the chart says which');
  if (webhook.failurePolicy === 'Ignore')
    return note(
      check,
      'failurePolicy is Ignore: Jobs that are made while no manager answers are not looked at',
      hasPolicy ? undefined : 'webhook.failurePolicy: Fail, or admissionPolicy.enabled=true',
    );
  return ok(check, leavesOutSystem ? `covers all Jobs but those in ${SYSTEM_NAMESPACE}` : 'covers all Jobs');
}

/** The chart's default leaves it out: the cluster itself must not wait for the manager there, and no Job of a tenant is. */
const SYSTEM_NAMESPACE = 'kube-system';

function leftOutBy({ namespaceSelector, objectSelector }: Webhook): { readonly leavesOutMore: boolean; readonly leavesOutSystem: boolean } {
  const expressions = namespaceSelector?.matchExpressions ?? [];
  const labels = [namespaceSelector, objectSelector].flatMap((selector) => Object.keys(selector?.matchLabels ?? {}));
  const isSystemAlone = ({ key, operator, values = [] }: (typeof expressions)[number]): boolean =>
    key === 'kubernetes.io/metadata.name' && operator === 'NotIn' && values.every((name) => name === SYSTEM_NAMESPACE);
  const leavesOutJobs = (objectSelector?.matchExpressions ?? []).length > 0 && !isDeepStrictEqual(objectSelector, HAS_QUEUE_LABEL);
  const leavesOutMore = labels.length > 0 || leavesOutJobs || !expressions.every(isSystemAlone);
  return { leavesOutMore, leavesOutSystem: expressions.length > 0 && !leavesOutMore };
}

/** The certificates, each as PEM, that the API server trusts for our webhook. */
export const authoritiesOf = (configurations: readonly WebhookConfiguration[]): string[] =>
  webhooksOf(configurations).flatMap(
    ({ clientConfig }) =>
      Buffer.from(clientConfig.caBundle ?? '', 'base64')
        .toString()
        .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [],
  );

/** The namespaces whose Jobs are managed without a queue label; undefined: there are none. */
export function unlabelledIn(configurations: readonly WebhookConfiguration[]): DeepReadonly<LabelSelector> | undefined {
  const [webhook] = configurations.flatMap(({ webhooks = [] }) => webhooks.filter(({ name }) => name === UNLABELLED_WEBHOOK.name));
  // The API server has checked it.
  return webhook?.namespaceSelector as DeepReadonly<LabelSelector> | undefined;
}

/** Jobs, and objects of other kinds, that name no queue, in such namespaces. What another object has made goes where that one goes. */
export function judgeUnlabelled(kind: Pick<WorkKind, 'of' | 'others' | 'controllerOf'>, work: readonly DeepReadonly<WorkObject>[]): Check {
  const unmanaged = work.filter((each) => kind.controllerOf(each) === undefined && !isFinished(each.status) && !isPart(kind, each));
  const [first] = unmanaged;
  if (first === undefined) return ok('jobs without a queue', 'none in the namespaces whose Jobs are managed without a label');
  return note(
    'jobs without a queue',
    `${unmanaged.length} in namespaces whose Jobs are managed without a label ${unmanaged.length === 1 ? 'runs' : 'run'} on this cluster, such as ${formatWork(kind, first.metadata)}`,
    'they were created before, or while no manager answered, and who runs them stays; delete them, and submit them again',
  );
}

/** `labelled` are Jobs and objects of other kinds with a queue. */
export function judgeUnseen(kind: Pick<WorkKind, 'of' | 'controllerOf'>, labelled: readonly DeepReadonly<WorkObject>[]): Check {
  const unseen = labelled.filter((object) => kind.controllerOf(object) !== MANAGER_CONTROLLER_NAME && !isFinished(object.status));
  const [first] = unseen;
  if (first === undefined) return ok('jobs', `all ${labelled.length} with a queue are Switchyard’s`);
  return wrong(
    'jobs',
    `${unseen.length} with the label ${QUEUE_NAME_LABEL} ${unseen.length === 1 ? 'is' : 'are'} not Switchyard’s, such as ${formatWork(kind, first.metadata)}`,
    'they were made while no webhook looked; delete them, and submit them again',
    'SwitchyardWebhookNotCovering',
  );
}

export function judgeClusters(clusters: readonly WorkerCluster[], nowMs: number): Check[] {
  if (clusters.length === 0) return [note('clusters', 'there is none: Jobs wait', 'switchyard clusters join CONTEXT')];
  return clusters.map((cluster) => judgeCluster(cluster, nowMs));
}

/** What a manager that has just begun says of a cluster, and for how long that is nothing to worry about. */
const BEGINNING: readonly string[] = ['Connecting', 'Listing'];
const BEGINNING_MS = 60_000;

const REMEDIES: Readonly<Record<string, string>> = {
  [ClusterCondition.Reachable]: 'look at its API server, the network, and the kubeconfig Secret; switchyard clusters join renews the token',
  [ClusterCondition.Synced]: 'look at its API server and at its load',
  [ClusterCondition.Able]: 'look at the rights of the manager there: switchyard clusters join checks and repairs them',
  [ClusterCondition.WorkerAlive]: 'look at the pods of switchyard-worker there; helm install switchyard-worker where there are none',
};
/** Where it is not for want of a program that no copy runs. */
const OTHER_CONTROLLER_REMEDY =
  'switchyard clusters join CONTEXT --built-in-controller where the worker is to run all Jobs there, or helm upgrade switchyard-worker without config.controllerName';

function remedyFor(cluster: string, { type, reason }: { readonly type: string; readonly reason: string }): string {
  if (reason === 'OtherController') return OTHER_CONTROLLER_REMEDY;
  if (reason === 'KubeconfigMissing') return `switchyard clusters join CONTEXT --name ${cluster} writes it anew`;
  return REMEDIES[type] ?? '';
}

function judgeCluster({ metadata, spec, status }: WorkerCluster, nowMs: number): Check {
  const check = `cluster ${metadata.name}`;
  const broken = Object.keys(REMEDIES)
    .flatMap((type) => findCondition(status?.conditions, type) ?? [])
    .find((condition) => condition.status === 'False');
  const sinceMs = nowMs - Date.parse(broken?.lastTransitionTime ?? '');
  if (broken !== undefined && BEGINNING.includes(broken.reason) && sinceMs < BEGINNING_MS)
    return note(check, `the manager is connecting to it: ${broken.message}`, 'look again in a minute');
  const alert: SeenAlert = broken?.type === ClusterCondition.Able ? 'SwitchyardClusterNotAble' : 'SwitchyardClusterLost';
  if (broken !== undefined)
    return wrong(check, `${broken.type}=False (${broken.reason}): ${broken.message}`, remedyFor(metadata.name, broken), alert);
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  if (ready === undefined) return note(check, 'the manager has said nothing of it yet', 'look whether the manager runs');
  if (ready.status !== 'True')
    return wrong(check, `Ready=${ready.status} (${ready.reason}): ${ready.message}`, `kubectl describe workercluster ${metadata.name}`);
  if (spec.state !== undefined && spec.state !== 'Active')
    return note(check, `ready, and ${spec.state}: it takes no Jobs`, `switchyard uncordon ${metadata.name}`);
  const alive = findCondition(status?.conditions, ClusterCondition.WorkerAlive);
  if (alive?.status === 'Unknown' && alive.reason === 'Connecting')
    return note(check, alive.message, 'look again in a minute: without a worker the cluster is not ready by then');
  const version = status?.version === undefined ? undefined : versionCheck(check, status.version);
  if (version?.result === 'wrong') return version;
  return ok(
    check,
    `ready, ${status?.version ?? 'version unknown'}${status?.worker?.version === undefined ? '' : `, worker ${status.worker.version}`}`,
  );
}
