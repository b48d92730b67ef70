import type { DeepReadonly, KubeObject, Pod } from '../../../shared/api/kubernetes.ts';
import { note, ok, wrong, type Check } from '../checks.ts';

/** What of a Deployment tells how its pods are. */
export type Deployment = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image?: string; readonly env?: readonly Variable[] }[];
        readonly volumes?: readonly Volume[];
      };
    };
  };
  readonly status?: {
    readonly readyReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
};

type Named = { readonly name?: string; readonly optional?: boolean };
type Variable = { readonly valueFrom?: { readonly secretKeyRef?: Named; readonly configMapKeyRef?: Named } };
type Volume = {
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
  readonly configMap?: Named;
  readonly projected?: { readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] };
};

/** A Secret or ConfigMap without which the pods of a Deployment do not start. */
export type Reference = { readonly kind: 'Secret' | 'ConfigMap'; readonly name: string };

/** Kubernetes makes it in each namespace. */
const CLUSTER_AUTHORITY = 'kube-root-ca.crt';

export function referencesOf({ spec }: Deployment): Reference[] {
  const { containers, volumes = [] } = spec.template.spec;
  const variables = containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom ?? []));
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const named = (kind: Reference['kind'], all: readonly (Named | undefined)[]): Reference[] =>
    all.flatMap((each) =>
      each?.name === undefined || each.optional === true || each.name === CLUSTER_AUTHORITY ? [] : [{ kind, name: each.name }],
    );
  const secrets = volumes.map(({ secret }) => secret && { ...secret, ...(secret.secretName && { name: secret.secretName }) });
  return [
    ...named('Secret', [...secrets, ...sources.map(({ secret }) => secret), ...variables.map(({ secretKeyRef }) => secretKeyRef)]),
    ...named('ConfigMap', [
      ...volumes.map(({ configMap }) => configMap),
      ...sources.map(({ configMap }) => configMap),
      ...variables.map(({ configMapKeyRef }) => configMapKeyRef),
    ]),
  ];
}

/** The chart calls the container so, whatever the release is called. */
export const isOfManager = ({ spec }: Deployment): boolean => spec.template.spec.containers[0]?.name === 'manager';

/**
 * How a Deployment of the charts is, and why where its pods are not ready; `pods` are those of its namespace, `missing` is what its pods
 * refer to and what does not exist.
 */
export function judgeDeployment(
  deployment: Deployment,
  pods: readonly DeepReadonly<Pod>[],
  nowMs: number,
  missing: readonly Reference[] = [],
): Check {
  const { metadata, spec, status } = deployment;
  const check = `deployment ${metadata.name}`;
  const [wanted, ready] = [spec.replicas ?? 1, status?.readyReplicas ?? 0];
  const image = spec.template.spec.containers[0]?.image ?? 'none';
  const at = `-n ${metadata.namespace}`;
  if (wanted === 0)
    return wrong(check, 'is scaled to 0', `kubectl ${at} scale deployment/${metadata.name} --replicas=${usualReplicas(deployment)}`);
  const count = `${ready}/${wanted} ready`;
  const trouble = missing[0] === undefined ? troubleOf(deployment, pods) : absenceOf(missing[0], at);
  if (ready >= wanted)
    return trouble === undefined ? ok(check, `${count}, image ${image}`) : note(check, `${count}, but ${trouble.found}`, trouble.remedy);
  if (trouble !== undefined) return (ready === 0 ? wrong : note)(check, `${count}, image ${image}: ${trouble.found}`, trouble.remedy);
  const youngest = Math.max(...podsOf(deployment, pods).map(({ metadata: { creationTimestamp } }) => Date.parse(creationTimestamp)));
  const describe = `kubectl ${at} describe deployment/${metadata.name}; kubectl ${at} logs deployment/${metadata.name} says what it waits for`;
  return ready > 0 || nowMs - youngest < STARTING_MS
    ? note(check, `${count}, image ${image}: its pods are starting`, 'look again in a minute')
    : wrong(check, `${count}, image ${image}: ${Number.isFinite(youngest) ? 'its pods do not become ready' : 'it has no pods'}`, describe);
}

/** The charts' defaults: of manager and worker a second one stands by. */
const usualReplicas = ({ spec }: Deployment): number => (spec.template.spec.containers[0]?.name === 'certificates' ? 1 : 2);

/** Neither a manager nor a worker takes longer for its first answer to a probe. */
const STARTING_MS = 60_000;

const absenceOf = ({ kind, name }: Reference, at: string): Trouble => ({
  found: `${kind} ${name}, which its pods need, does not exist`,
  remedy: `kubectl ${at} create ${kind === 'Secret' ? 'secret generic' : 'configmap'} ${name} with the keys that the README of the chart names, or helm upgrade with another value`,
});

type Trouble = { readonly found: string; readonly remedy: string };

function troubleOf(deployment: Deployment, pods: readonly DeepReadonly<Pod>[]): Trouble | undefined {
  const own = podsOf(deployment, pods);
  for (const pod of own) {
    const trouble = troubleOfPod(pod);
    if (trouble !== undefined) return trouble;
  }
  const { conditions = [] } = deployment.status ?? {};
  const failing = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (failing === undefined || own.length > 0) return undefined;
  return {
    found: `no pod can be made: ${failing.message ?? ''}`,
    remedy: 'change what refuses it (a ResourceQuota, an admission policy), or the values of the chart',
  };
}

const podsOf = ({ metadata, spec }: Deployment, pods: readonly DeepReadonly<Pod>[]): readonly DeepReadonly<Pod>[] =>
  pods.filter((pod) => {
    const { namespace, labels = {}, deletionTimestamp } = pod.metadata;
    const isSelected = Object.entries(spec.selector.matchLabels ?? {}).every(([label, value]) => labels[label] === value);
    return namespace === metadata.namespace && deletionTimestamp === undefined && isSelected;
  });

/** Of the kubelet's reasons for a container that waits: what a chart's values can mend. */
const IMAGE_REASONS: readonly string[] = [
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
];
/** Those of every pod for a while. */
const STARTING_REASONS: readonly string[] = ['ContainerCreating', 'PodInitializing'];

function troubleOfPod({ metadata: { namespace, name }, status }: DeepReadonly<Pod>): Trouble | undefined {
  const unscheduled = status?.conditions?.find((each) => each.type === 'PodScheduled' && each.status === 'False');
  if (unscheduled !== undefined)
    return {
      found: `pod ${name} fits on no node: ${unscheduled.message ?? unscheduled.reason ?? ''}`,
      remedy: 'give the cluster room, or change resources, nodeSelector and tolerations of the chart',
    };
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const container = containers.find(({ state }) => !STARTING_REASONS.includes(state?.waiting?.reason ?? 'ContainerCreating'));
  const { reason = '', message = '' } = container?.state?.waiting ?? {};
  if (container === undefined) return undefined;
  const ended = container.lastState?.terminated;
  const found = [
    `pod ${name}: ${reason}`,
    ...(message === '' ? [] : [`: ${message}`]),
    ...(ended === undefined ? [] : [`; it ended with ${ended.exitCode}${ended.reason === undefined ? '' : ` (${ended.reason})`}`]),
  ].join('');
  if (IMAGE_REASONS.includes(reason))
    return {
      found,
      remedy:
        'helm upgrade with image.repository and image.tag of an image that this cluster can pull (npm run image pushes one), and imagePullSecrets where its registry asks for them',
    };
  return reason === 'CrashLoopBackOff'
    ? { found, remedy: `kubectl -n ${namespace} logs ${name} --previous says why` }
    : { found, remedy: `kubectl -n ${namespace} describe pod ${name}` };
}

/**
 * That neither a Deployment nor a Lease of a manager is in `namespace`. `elsewhere` are namespaces with such a Deployment; `service` is the
 * one that our webhook calls, if it calls one: then the manager belongs into this cluster.
 */
export function judgeAbsence(namespace: string, elsewhere: readonly string[], service: string | undefined): Check {
  const [other] = elsewhere;
  if (other !== undefined)
    return note('manager', `none in namespace ${namespace}, but in ${elsewhere.join(', ')}`, `--manager-namespace ${other} looks at it`);
  const remedy = 'helm upgrade --install switchyard-manager (docs/install.md); --manager-namespace names another namespace';
  if (service === undefined)
    return note(
      'manager',
      `no Deployment and no Lease of it in namespace ${namespace}: it is not installed, or runs elsewhere, without election`,
      remedy,
    );
  return wrong(
    'manager',
    `its Deployment is not there, and the webhook calls Service ${service}: Jobs of queues cannot be made, and nothing is admitted`,
    remedy,
    'SwitchyardWebhookFailing',
  );
}
