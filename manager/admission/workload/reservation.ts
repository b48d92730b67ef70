import type { Requests } from '../../api/amount.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Workload } from './workload.ts';

/** Quota and place that a Workload holds. */
export type Reservation = {
  readonly workload: Workload;
  readonly record: AdmissionRecord;
  /** What it holds, whatever the Workload asks for now: the requests of the record, without pods that it will not need again. */
  readonly held: Requests;
  /** The requests of the record, where that is more. */
  readonly recorded?: Requests;
  /** The record is not seen on the Job yet. */
  readonly assumed: boolean;
};

/** It has a place that it can be told to give up: it runs there, or that is reserved for it. */
export const hasPlace = ({ phase }: Workload): boolean => phase === 'Admitted' || phase === 'Reserved';
