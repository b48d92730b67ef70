import { excess, formatRequests, forPods } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { parseRequests, ZERO } from '../../api/amount.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Reservation } from '../workload/reservation.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import { parseQualifiedName } from '../../work-kind/qualified-name.ts';

/**
 * How long a running Job must request less before it holds less. The copy gets the lower number at once, so by then its cluster, connected
 * all the time, starts no more pods than that.
 */
export const PARTIAL_RELEASE_DELAY_MS = 10_000;

/**
 * The record of an admitted Job that requests less than it holds, once its cluster reports no more pods than are requested now. A report
 * without pods proves nothing: it may precede the first pod, or concern a copy that is being recreated. Of other kinds no report counts
 * pods, and their copies keep those with which they were made: they hold less from their next admission on.
 */
export function partiallyReleased(
  { workload, record, held, recorded = held }: Reservation,
  clusters: readonly ClusterState[],
): AdmissionRecord | undefined {
  const { phase, podsTold, problem } = workload;
  const requests = forPods(workload.requests, record.parallelism);
  if (phase !== 'Admitted' || problem !== undefined || parseQualifiedName(workload.name).qualifier !== undefined) return undefined;
  if (excess(requests, recorded) !== undefined || excess(recorded, requests) === undefined) return undefined;
  if (podsTold === 0 || podsTold > (requests.get('pods') ?? ZERO)) return undefined;
  if (clusters.find(({ name }) => name === record.cluster)?.connected !== true) return undefined;
  const charged = record.charged && formatRequests(forPods(parseRequests(record.charged), requests.get('pods')));
  return { ...record, requests: formatRequests(requests), ...omitUndefined({ charged }) };
}
