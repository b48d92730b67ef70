import { toWireTime } from '../../shared/api/wire-time.ts';
import type { AdmissionRecord, AvoidedCluster } from '../api/records.ts';

/** A cluster that refuses a Job is avoided for this long, ... */
const BASE_MS = 60_000;
/** ... twice as long each time in a row, and no longer than this. For as long again a refusal is remembered after that. */
const MAX_MS = 3_600_000;

/** The record of a Job whose cluster has refused it: that cluster is avoided for a while. */
export function refusedRecord(record: AdmissionRecord, reason: string, nowMs: number): AdmissionRecord {
  const { cluster, epoch } = record;
  const refusals = (record.avoid?.[cluster]?.refusals ?? 0) + 1;
  const until = toWireTime(nowMs + Math.min(MAX_MS, BASE_MS * 2 ** (refusals - 1)));
  return { ...record, avoid: { ...record.avoid, [cluster]: { until, reason, refusals, epoch } } };
}

/** Whether the placement that a record tells of was refused, so that nothing of the Job is on its cluster. */
export const isRefused = ({ cluster, epoch, avoid }: AdmissionRecord): boolean => avoid?.[cluster]?.epoch === epoch;

/** Why and until when a Job with this record does not go to a cluster; undefined when it may. */
export function avoidance(
  record: AdmissionRecord | undefined,
  cluster: string,
  nowMs: number,
): { readonly untilMs: number; readonly problem: string } | undefined {
  const avoided = record?.avoid?.[cluster];
  if (avoided === undefined) return undefined;
  const untilMs = Date.parse(avoided.until);
  return nowMs < untilMs ? { untilMs, problem: `refused it (${avoided.reason}), avoided until ${avoided.until}` } : undefined;
}

/** What of a record's refusals the next record remembers; undefined when that is nothing. */
export function rememberedRefusals(
  record: AdmissionRecord | undefined,
  nowMs: number,
): Readonly<Record<string, AvoidedCluster>> | undefined {
  const young = Object.entries(record?.avoid ?? {}).filter(([, { until }]) => nowMs < Date.parse(until) + MAX_MS);
  return young.length === 0 ? undefined : Object.fromEntries(young);
}
