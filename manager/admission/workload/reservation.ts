import { chargeName, chargesIn, parseRequests, withoutCharges, ZERO, type Requests } from '../../api/amount.ts';
import { formatRequests } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Workload } from './workload.ts';

/** The quota and place that a Workload holds. */
export type Reservation = {
  readonly workload: Workload;
  readonly record: AdmissionRecord;
  /** The held requests, whatever the Workload requests now: those of the record, without pods that are no longer needed. */
  readonly held: Requests;
  /** The requests of the record, if they are larger. */
  readonly recorded?: Requests;
  /** The record is not observed on the Job yet. */
  readonly assumed: boolean;
};

/** The requests of a record, with what its ClusterQueue charges for them if that is something else. */
export function recordedRequests({ requests, charged }: Pick<AdmissionRecord, 'requests' | 'charged'>): Requests {
  const recorded = parseRequests(requests);
  if (charged === undefined) return recorded;
  return new Map([...recorded, ...[...parseRequests(charged)].map(([resource, amount]) => [chargeName(resource), amount] as const)]);
}

/** Requests as the fields of a record. */
export function recordFields(requests: Requests): Pick<AdmissionRecord, 'requests' | 'charged'> {
  const charges = chargesIn(requests);
  if (charges === requests) return { requests: formatRequests(requests) };
  return { requests: formatRequests(withoutCharges(requests)), charged: formatRequests(charges) };
}

/** Whether the Workload can be evicted: it runs, or its place is reserved. */
export const hasPlace = ({ phase }: Workload): boolean => phase === 'Admitted' || phase === 'Reserved';

/** Whether a Workload with a place has pods that are not ready: not yet, or not any more. Without pods there is nothing to wait for. */
export const awaitsPods = (workload: Workload): boolean =>
  hasPlace(workload) &&
  !workload.heldBack &&
  workload.requests.get('pods') !== 0 &&
  (!workload.started || workload.podsLostSinceMs !== undefined);

/** Whether a Workload holds less of some resource than it did `before`; without `now` it holds nothing. */
export const holdsLess = (now: Reservation | undefined, before: Reservation): boolean =>
  [...before.held].some(([resource, amount]) => amount > (now?.held.get(resource) ?? ZERO));
