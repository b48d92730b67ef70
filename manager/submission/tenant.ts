import { deniedBy, SYSTEM_NAMESPACES } from '../../shared/api/denied-namespaces.ts';
import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { SHARED_TENANT } from '../../shared/api/names.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';

/** On whose behalf submissions of one queue become Jobs, and what that lets them do. */
export type Tenant = {
  /** UID of its SubmissionQueue, or {@link SHARED_TENANT}: outcomes and all else that is kept of it go by this. */
  readonly id: string;
  /** For people and metrics: `namespace/name` of its SubmissionQueue, or `shared`. */
  readonly label: string;
  readonly redis: { readonly prefix: string; readonly queue: string };
  /** Where Jobs are that name no namespace. */
  readonly namespace: string;
  /** Where Jobs may be; `*`: everywhere but in the namespaces of Kubernetes itself. */
  readonly namespaces: readonly string[] | '*';
  /** Which LocalQueues Jobs may name, the default first; empty: any. */
  readonly localQueues: readonly string[];
  /** The ServiceAccount as which the Jobs are created; undefined: the manager itself. */
  readonly as: ServiceAccountName | undefined;
  readonly limits: TenantLimits;
  /** Share of the turns while several have something to submit. */
  readonly weight: number;
  readonly priorityClasses: readonly PriorityClassRule[];
  /** One of them must have signed each submission; empty: none needs to be signed. */
  readonly signingKeys: readonly SigningKey[];
  readonly onUnadmittable: 'Fail' | 'Wait';
};
export type ServiceAccountName = { readonly namespace: string; readonly name: string };
export type TenantLimits = {
  /** Of the text of a submission. */
  readonly bytes: number;
  /** Levels that it nests. */
  readonly depth: number;
  /** Submissions; Infinity: as many as there is room for. */
  readonly perSecond: number;
  /** Jobs that have not ended. */
  readonly parked: number;
};
/** Submissions of a BullMQ priority of at most `upTo` get this WorkloadPriorityClass. */
export type PriorityClassRule = { readonly upTo: number; readonly name: string };
/** `notAfter` in epoch milliseconds; Infinity: it does not end. */
export type SigningKey = { readonly name: string; readonly publicKey: string; readonly notAfter: number };

/** A Job nests some fifteen levels deep. What recurses over a document must not meet one of a million. */
const DEPTH_MAX = 64;
const PARKED_MAX = 100_000;

/** What holds for all tenants of a manager. */
export type TenantRules = {
  /** What a submission may have where its queue does not say. */
  readonly bytesMax: number;
  /** Whether queues may create Jobs with the rights of the manager. */
  readonly managerIdentity: boolean;
  /** A Redis Cluster takes the keys of one queue only where they share a hash tag. */
  readonly isRedisCluster?: boolean;
  /** Those of --denied-namespaces, where no Job is admitted. */
  readonly deniedNamespaces: readonly string[];
};

/** The tenant of a SubmissionQueue. */
export function tenantOf(
  { metadata, spec }: DeepReadonly<SubmissionQueueObject>,
  { bytesMax, isRedisCluster = false }: Pick<TenantRules, 'bytesMax' | 'isRedisCluster'>,
): Tenant {
  const { namespace, name, uid } = metadata;
  const { limits = {}, serviceAccountName } = spec;
  return {
    id: uid,
    label: `${namespace}/${name}`,
    redis: {
      prefix: spec.prefix ?? (isRedisCluster ? `{${defaultPrefix(namespace)}}` : defaultPrefix(namespace)),
      queue: spec.queue ?? name,
    },
    namespace,
    namespaces: [...new Set([namespace, ...(spec.namespaces ?? [])])],
    localQueues: spec.localQueues ?? [],
    as: serviceAccountName === undefined ? undefined : { namespace, name: serviceAccountName },
    limits: {
      bytes: limits.bytes ?? bytesMax,
      depth: limits.depth ?? DEPTH_MAX,
      perSecond: limits.perSecond ?? Infinity,
      parked: limits.parked ?? PARKED_MAX,
    },
    weight: spec.weight ?? 1,
    priorityClasses: (spec.priorityClasses ?? []).toSorted((a, b) => a.upTo - b.upTo),
    signingKeys: (spec.signing?.keys ?? []).map(({ name: key, publicKey, notAfter }) => ({
      name: key,
      publicKey,
      notAfter: notAfter === undefined ? Infinity : Date.parse(notAfter),
    })),
    onUnadmittable: spec.onUnadmittable ?? 'Fail',
  };
}

/** The queue that the manager's flags describe: of whoever can reach Redis, and therefore bound to a few namespaces. */
export function sharedTenant(
  redis: Tenant['redis'],
  { namespaces, bytesMax }: { readonly namespaces: Tenant['namespaces']; readonly bytesMax: number },
): Tenant {
  return {
    id: SHARED_TENANT,
    label: SHARED_TENANT,
    redis,
    namespace: namespaces === '*' ? 'default' : (namespaces[0] ?? 'default'),
    namespaces,
    localQueues: [],
    as: undefined,
    limits: { bytes: bytesMax, depth: DEPTH_MAX, perSecond: Infinity, parked: PARKED_MAX },
    weight: 1,
    priorityClasses: [],
    signingKeys: [],
    onUnadmittable: 'Fail',
  };
}

const defaultPrefix = (namespace: string): string => `switchyard:tenant:${namespace}`;

/** Why a tenant's queue is not served. */
export type TenantProblem = {
  readonly reason:
    | 'SystemNamespace'
    | 'DeniedNamespace'
    | 'PrefixTaken'
    | 'ReservedPrefix'
    | 'PrefixWithoutHashTag'
    | 'ManagerIdentityNotAllowed'
    | 'InvalidSigningKey';
  readonly message: string;
};

/**
 * Why no submissions are taken from the queue of `tenant`; undefined when they are. `earlier` are the tenants of older objects, the shared
 * one first: of two with one queue the later one would take what is the earlier one's.
 */
export function tenantProblem(
  tenant: Tenant,
  earlier: readonly Tenant[],
  { managerIdentity, isRedisCluster = false, deniedNamespaces }: Omit<TenantRules, 'bytesMax'>,
): TenantProblem | undefined {
  const { prefix, queue } = tenant.redis;
  if (isSystemNamespace(tenant.namespace)) {
    return {
      reason: 'SystemNamespace',
      message: 'namespaces of Kubernetes itself take no submissions; make the SubmissionQueue in another',
    };
  }
  const denied = deniedBy(deniedNamespaces, tenant.namespace);
  if (denied !== undefined) {
    return {
      reason: 'DeniedNamespace',
      message: `the namespace ${tenant.namespace} is denied by --denied-namespaces (${denied}), and Jobs there are refused; make the SubmissionQueue in another namespace, or ask an administrator to change that flag`,
    };
  }
  const other = earlier.find(({ redis }) => redis.prefix === prefix && redis.queue === queue);
  if (other !== undefined) {
    const message = `the queue ${queue} under the prefix ${prefix} belongs to ${other.label}; choose another spec.prefix or spec.queue`;
    return { reason: 'PrefixTaken', message };
  }
  if (isReserved(prefix, tenant.namespace)) {
    const message = `the prefix ${prefix} is kept for others; leave spec.prefix out, or begin it with ${defaultPrefix(tenant.namespace)}, or with a word of your own`;
    return { reason: 'ReservedPrefix', message };
  }
  if (isRedisCluster && !hasHashTag(prefix)) {
    const message = `Redis is a cluster, which refuses what concerns several keys of a queue where spec.prefix has no hash tag; make another SubmissionQueue, with the prefix {${prefix}} or with none`;
    return { reason: 'PrefixWithoutHashTag', message };
  }
  if (tenant.as === undefined && !managerIdentity) {
    const message = 'identity Manager needs a manager with --allow-manager-identity; name a serviceAccountName instead';
    return { reason: 'ManagerIdentityNotAllowed', message };
  }
  return undefined;
}

/**
 * Whether a Redis Cluster keeps all keys that begin with this prefix in one place: by what is in the first braces, unless these are empty.
 */
export const hasHashTag = (prefix: string): boolean => /^[^{]*\{[^}]+\}/.test(prefix);

/**
 * Under `switchyard` lie the manager's own keys and, each under its namespace, those of tenants. On a Redis cluster braces may be around
 * any of it.
 */
function isReserved(prefix: string, namespace: string): boolean {
  const bare = prefix.replaceAll(/[{}]/g, '');
  const own = defaultPrefix(namespace);
  return /^switchyard(:|$)/.test(bare) && bare !== own && !bare.startsWith(`${own}:`);
}

/** Namespaces of Kubernetes itself: no submission of anybody goes there, whatever --denied-namespaces says. */
export const isSystemNamespace = (namespace: string): boolean => deniedBy(SYSTEM_NAMESPACES, namespace) !== undefined;

export const mayUseNamespace = ({ namespaces }: Tenant, namespace: string): boolean =>
  !isSystemNamespace(namespace) && (namespaces === '*' || namespaces.includes(namespace));
