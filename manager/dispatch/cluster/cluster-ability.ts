import { ApiError } from '../../../shared/kube/api-error.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { neverSent } from './lease-not-held.ts';

/**
 * Whether one cluster can create copies, judged by the last creates. A cluster may answer probes and still fail to: a webhook that is down,
 * a storage without a leader, revoked rights. Times are milliseconds of one clock.
 */
export type ClusterAbility = {
  /** Keys and namespaces of the Jobs whose creates have failed through the cluster's fault since the last success. */
  readonly failing: ReadonlyMap<string, string>;
  /** The time of the last successful create, by namespace. */
  readonly succeeded: ReadonlyMap<string, number>;
  /** While set and before `untilMs`, no Job is placed there. */
  readonly trouble: { readonly problem: DispatchProblem; readonly untilMs: number; readonly backOffMs: number } | undefined;
};
export type AbilityNow =
  | { readonly kind: 'Able' }
  | { readonly kind: 'NotAble' | 'Trying'; readonly problem: Readonly<Record<'reason' | 'message', string>> };

export const ABLE: ClusterAbility = { failing: new Map(), succeeded: new Map(), trouble: undefined };

/** Failing Jobs in a row before the cluster counts as unable: a single Job may itself be at fault. */
export const FAILING_JOBS = 3;
/** Longer than placed Jobs wait for their next retry: while there are any, they show whether the cluster can create copies. */
const BACK_OFF_MS = 120_000;
const BACK_OFF_MAX_MS = 960_000;
/** A success this recent in another namespace shows that only the failing namespace is in trouble. */
const RECENT_MS = 600_000;
const REMEMBERED_MAX = 100;

export function afterCreate({ succeeded }: ClusterAbility, namespace: string, nowMs: number): ClusterAbility {
  const recent = [...succeeded].filter(([name, ms]) => name !== namespace && nowMs - ms < RECENT_MS).slice(-REMEMBERED_MAX);
  return { ...ABLE, succeeded: new Map([...recent, [namespace, nowMs]]) };
}

/**
 * The ability after a create failed through the cluster's fault. During the back-off a failure prolongs it, afterwards a failure doubles
 * it.
 */
export function afterFailedCreate(
  ability: ClusterAbility,
  job: { readonly key: string; readonly namespace: string },
  problem: DispatchProblem,
  nowMs: number,
): ClusterAbility {
  const { trouble, succeeded } = ability;
  const failing = new Map([...ability.failing, [job.key, job.namespace] as const].slice(-REMEMBERED_MAX));
  const isTrying = trouble !== undefined && trouble.untilMs <= nowMs;
  if (trouble === undefined && (failing.size < FAILING_JOBS || isOfOneNamespace(failing, succeeded, nowMs))) return { ...ability, failing };
  const backOffMs = trouble === undefined ? BACK_OFF_MS : isTrying ? Math.min(trouble.backOffMs * 2, BACK_OFF_MAX_MS) : trouble.backOffMs;
  const told = trouble === undefined || isTrying ? problem : trouble.problem;
  return { succeeded, failing, trouble: { problem: told, untilMs: nowMs + backOffMs, backOffMs } };
}

export function abilityAt({ trouble }: ClusterAbility, nowMs: number): AbilityNow {
  if (trouble === undefined) return { kind: 'Able' };
  return { kind: trouble.untilMs > nowMs ? 'NotAble' : 'Trying', problem: trouble.problem };
}

/**
 * One tenant must not block a cluster for the others: failures in one namespace, with a recent success in another, are no fault of the
 * cluster.
 */
function isOfOneNamespace(failing: ReadonlyMap<string, string>, succeeded: ReadonlyMap<string, number>, nowMs: number): boolean {
  const namespaces = new Set(failing.values());
  return namespaces.size === 1 && [...succeeded].some(([name, ms]) => !namespaces.has(name) && nowMs - ms < RECENT_MS);
}

/**
 * Whether a create failed through the fault of its cluster, and would fail for other Jobs, too. A rejection by an admission plugin or for
 * size is about the Job; a failed connection does not concern the ability.
 */
export function isFaultOfCluster(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof ApiError ? error.cause : error;
  if (!(cause instanceof ApiError)) return !neverSent(cause);
  if (cause.code >= 500) return !/request is too large/.test(cause.message);
  return cause.code === 401 || (cause.code === 403 && isWithoutRights(cause));
}

/** The message of RBAC; admission plugins answer with 403, too. */
const isWithoutRights = ({ message }: ApiError): boolean =>
  /^[\w.]+ (".{1,253}" )?is forbidden: User ".{0,1024}" cannot create resource "jobs"/.test(message);
