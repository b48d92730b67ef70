import type { Requests } from '../api/amount.ts';
import type { AdmissionRecord } from '../api/records.ts';
import type { Workload } from './workload.ts';

/** Quota and place that a Workload holds. */
export type Reservation = {
  readonly workload: Workload;
  readonly record: AdmissionRecord;
  /** What it holds: the requests of the record, whatever the Workload asks for now. */
  readonly held: Requests;
  /** The record is not seen on the Job yet. */
  readonly assumed: boolean;
};
