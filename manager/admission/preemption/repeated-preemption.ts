import type { AdmissionRecord } from '../../api/records.ts';

/**
 * Whether a Workload was stopped five times within an hour, the last time for another Workload. It preempts only where its ClusterQueue
 * does not borrow afterwards, until it is admitted again. Otherwise several Workloads could preempt each other in turns without end. Past
 * admissions are not sealed: who forges them has their own Workload preempt less, or as before.
 */
export function isRepeatedlyPreempted(record: AdmissionRecord | undefined): boolean {
  if (record?.preempted === undefined) return false;
  const stops = record.pastAdmissions?.slice(-STOPS) ?? [];
  const [first, last] = [stops[0], stops.at(-1)];
  return (
    stops.length === STOPS && first !== undefined && last !== undefined && Date.parse(last.until) - Date.parse(first.until) <= WITHIN_MS
  );
}
const STOPS = 5;
const WITHIN_MS = 3_600_000;

/** The end of its condition's message then. */
export const REPEATED_PREEMPTION =
  'it was stopped five times within an hour, and waits for capacity that becomes free: it preempts no Job for borrowed quota';
