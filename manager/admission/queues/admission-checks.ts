import { CheckReason, type CheckState } from '../../api/check-states.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { CheckRule } from '../workload/check-rules.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

export type CheckStep =
  /** All admission checks are ready for this reservation. */
  | { readonly kind: 'Release' }
  /** These checks have no state since the reservation: an earlier state belongs to another reservation. */
  | { readonly kind: 'Ask'; readonly checks: readonly string[] }
  | { readonly kind: 'Wait'; readonly dueMs: number | undefined }
  /** The reservation ends. */
  | { readonly kind: 'GiveUp'; readonly why: string };

/**
 * The next step of a reservation whose admission checks are not all ready. Times have a resolution of one second, so a state counts from
 * the second after the reservation. A timeout of 0 never expires.
 */
export function checkStep(record: AdmissionRecord, states: Workload['checks'], timeoutMs: number, nowMs: number): CheckStep {
  const sinceMs = Date.parse(record.since);
  const awaited = (record.checks ?? []).map((name) => ({ name, state: current(states.get(name), sinceMs) }));
  const refused = awaited.find(({ state }) => state?.status === 'False');
  if (refused !== undefined) return { kind: 'GiveUp', why: wordsOf(refused.name, refused.state) };
  if (awaited.every(({ state }) => state?.status === 'True')) return { kind: 'Release' };
  const dueMs = sinceMs + timeoutMs;
  if (timeoutMs > 0 && nowMs >= dueMs) {
    const silent = awaited.filter(({ state }) => state?.status !== 'True').map(({ name }) => name);
    return { kind: 'GiveUp', why: `admission checks ${silent.join(', ')} were not ready in time` };
  }
  const unasked = awaited.filter(({ state }) => state === undefined).map(({ name }) => name);
  return unasked.length > 0 ? { kind: 'Ask', checks: unasked } : { kind: 'Wait', dueMs: timeoutMs > 0 ? dueMs : undefined };
}

const current = (state: CheckState | undefined, sinceMs: number): CheckState | undefined =>
  state !== undefined && state.sinceMs >= sinceMs + 1000 ? state : undefined;

/** Why a Workload is not queued: an admission check of its ClusterQueue rejects it. */
export function rejectedBy({ checks }: Pick<Workload, 'checks'>, rules: readonly CheckRule[]): InadmissibleReason | undefined {
  if (checks.size === 0) return undefined;
  const rejecting = rules.find(({ name }) => isRejection(checks.get(name)));
  if (rejecting === undefined) return undefined;
  const message = `${wordsOf(rejecting.name, checks.get(rejecting.name))}; it waits until that check says something else`;
  return { reason: QuotaReservedReason.AdmissionCheckRejected, message };
}

const isRejection = (state: CheckState | undefined): boolean => state?.status === 'False' && state.reason === CheckReason.Rejected;

const wordsOf = (name: string, state: CheckState | undefined): string =>
  `admission check ${name} ${isRejection(state) ? 'rejected it' : 'wants another try'}${state?.message ? `: ${sanitizeText(state.message)}` : ''}`;

/** The condition of a Workload that waits for its admission checks. */
export const pendingChecks = ({ clusterQueue, cluster, checks = [] }: AdmissionRecord): InadmissibleReason => ({
  reason: QuotaReservedReason.AdmissionChecksPending,
  message: `quota is reserved in cluster queue ${clusterQueue} and room on cluster ${cluster}; waits for admission checks: ${checks.join(', ')}`,
});
