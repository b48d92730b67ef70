import { excess, formatRequests, forPods } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { ZERO } from '../../api/amount.ts';
import type { Reservation } from '../workload/reservation.ts';
import type { ClusterState } from '../quota/cluster-state.ts';

/**
 * For as long a running Job must have been able to hold less before it does. Its copy is told of the lower number at once, so by then its
 * cluster, which has been there all the time, starts no more pods than that.
 */
export const PARTIAL_RELEASE_DELAY_MS = 10_000;

/**
 * The record of an admitted Job that asks for less than it holds, once its cluster has told of no more pods than it asks for now. That there
 * are no pods proves nothing: it may be told before the first one starts, or of a copy that is being made anew.
 */
export function partiallyReleased(
  { workload, record, held, recorded = held }: Reservation,
  clusters: readonly ClusterState[],
): AdmissionRecord | undefined {
  const { phase, podsTold, problem } = workload;
  const requests = forPods(workload.requests, record.parallelism);
  if (phase !== 'Admitted' || problem !== undefined) return undefined;
  if (excess(requests, recorded) !== undefined || excess(recorded, requests) === undefined) return undefined;
  if (podsTold === 0 || podsTold > (requests.get('pods') ?? ZERO)) return undefined;
  if (clusters.find(({ name }) => name === record.cluster)?.connected !== true) return undefined;
  return { ...record, requests: formatRequests(requests) };
}
