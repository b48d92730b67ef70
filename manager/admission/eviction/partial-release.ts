import { excess, formatRequests, forPods } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { parseRequests, ZERO } from '../../api/amount.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Reservation } from '../workload/reservation.ts';
import type { Workload } from '../workload/workload.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import { parseQualifiedName } from '../../work-kind/qualified-name.ts';

/**
 * How long a running Job must request less before it holds less. The copy gets the lower number at once, so by then its cluster, connected
 * all the time, starts no more pods than that.
 */
const PARTIAL_RELEASE_DELAY_MS = 10_000;

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

/** Running Jobs that could hold less than they do. */
export class PartialReleases {
  /** Since when a Job could. */
  readonly #sinceMs = new Map<string, number>();

  /** Returns the smaller records that are due, and after which time there may be more; undefined if no other Job could hold less since. */
  find(
    mismatched: Iterable<Reservation>,
    clusters: readonly ClusterState[],
    nowMs: number,
  ): { readonly due: { readonly workload: Workload; readonly record: AdmissionRecord }[]; readonly againAfterMs: number | undefined } {
    const candidates = [...mismatched].flatMap((reservation) => {
      const record = partiallyReleased(reservation, clusters);
      return record === undefined ? [] : [{ workload: reservation.workload, record }];
    });
    const keys = new Set(candidates.map(({ workload }) => workload.key));
    for (const key of this.#sinceMs.keys()) if (!keys.has(key)) this.#sinceMs.delete(key);
    const others = [...keys].filter((key) => !this.#sinceMs.has(key));
    for (const key of others) this.#sinceMs.set(key, nowMs);
    const due = candidates.filter(({ workload }) => nowMs - (this.#sinceMs.get(workload.key) ?? nowMs) >= PARTIAL_RELEASE_DELAY_MS);
    return { due, againAfterMs: others.length === 0 ? undefined : PARTIAL_RELEASE_DELAY_MS };
  }
}
