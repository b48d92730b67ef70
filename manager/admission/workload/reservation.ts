import type { Requests } from '../../api/amount.ts';
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

/** Whether the Workload can be evicted: it runs, or its place is reserved. */
export const hasPlace = ({ phase }: Workload): boolean => phase === 'Admitted' || phase === 'Reserved';
