import { ApiError } from '../../../shared/kube/api-error.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { neverSent } from './lease-not-held.ts';

/**
 * Whether copies can be made on one cluster, as those show that were tried. It answers, and may be unable all the same: a webhook that is down, a storage without
 * a leader, rights that were withdrawn. Times are milliseconds of one clock.
 */
export type ClusterAbility = {
  /** Jobs whose creates have failed since the last that succeeded, through the cluster's fault, and their namespaces. */
  readonly failing: ReadonlyMap<string, string>;
  /** When creates last succeeded, by namespace. */
  readonly succeeded: ReadonlyMap<string, number>;
  /** NotAble: no Job is to be placed there. */
  readonly trouble: { readonly problem: DispatchProblem; readonly untilMs: number; readonly backOffMs: number } | undefined;
};
export type AbilityNow =
  | { readonly kind: 'Able' }
  | { readonly kind: 'NotAble' | 'Trying'; readonly problem: Readonly<Record<'reason' | 'message', string>> };

export const ABLE: ClusterAbility = { failing: new Map(), succeeded: new Map(), trouble: undefined };

/** So many Jobs must fail in a row: one may be to blame itself. */
export const FAILING_JOBS = 3;
/** Longer than Jobs that are placed there wait for their next try: as long as there are any, they show what it can. */
const BACK_OFF_MS = 120_000;
const BACK_OFF_MAX_MS = 960_000;
/** What succeeded so recently in other namespaces shows that only one of them is in trouble. */
const RECENT_MS = 600_000;
const REMEMBERED_MAX = 100;

export function afterCreate({ succeeded }: ClusterAbility, namespace: string, nowMs: number): ClusterAbility {
  const recent = [...succeeded].filter(([name, ms]) => name !== namespace && nowMs - ms < RECENT_MS).slice(-REMEMBERED_MAX);
  return { ...ABLE, succeeded: new Map([...recent, [namespace, nowMs]]) };
}

/** After a create failed through the cluster's fault. While its back-off lasts another failure prolongs it, after that it doubles it. */
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

/** A tenant alone must not keep the others from a cluster: what fails in one namespace, while it has just worked in another, is no fault of the cluster. */
function isOfOneNamespace(failing: ReadonlyMap<string, string>, succeeded: ReadonlyMap<string, number>, nowMs: number): boolean {
  const namespaces = new Set(failing.values());
  return namespaces.size === 1 && [...succeeded].some(([name, ms]) => !namespaces.has(name) && nowMs - ms < RECENT_MS);
}

/**
 * Whether a create failed through the fault of its cluster, and would fail for other Jobs, too. What an admission plugin forbids, and what is too large to be stored, is about the Job; a
 * connection that cannot be made is no matter of ability.
 */
export function isFaultOfCluster(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof ApiError ? error.cause : error;
  if (!(cause instanceof ApiError)) return !neverSent(cause);
  if (cause.code >= 500) return !/request is too large/.test(cause.message);
  return cause.code === 401 || (cause.code === 403 && isWithoutRights(cause));
}

/** RBAC's own words; admission plugins answer 403, too. */
const isWithoutRights = ({ message }: ApiError): boolean =>
  /^[\w.]+ (".{1,253}" )?is forbidden: User ".{0,1024}" cannot create resource "jobs"/.test(message);
