import { toWireTime } from '../../../shared/api/wire-time.ts';
import { AvoidedReason } from '../../api/reasons.ts';
import type { AdmissionRecord, AvoidedCluster } from '../../api/records.ts';

/** A cluster that refuses a Job is avoided for this long, */
const BASE_MS = 60_000;
/** doubled with each consecutive refusal up to this limit. A refusal is remembered for that limit after it ends. */
const MAX_MS = 3_600_000;
export const FORGOTTEN_AFTER_MS = MAX_MS;

/** How long a cluster is avoided after so many consecutive refusals, in milliseconds. */
export const backoffMs = (refusals: number): number => Math.min(MAX_MS, BASE_MS * 2 ** (refusals - 1));

/** The record of a Job that its cluster has refused or not started: that cluster is avoided for a while. */
export function refusedRecord(record: AdmissionRecord, reason: string, next: NextAvoidance): AdmissionRecord {
  const { cluster, epoch } = record;
  const refusals = refusalsOf(record) + 1;
  const { untilMs, level } = next(refusals);
  const avoided: AvoidedCluster = { until: toWireTime(untilMs), reason, refusals, epoch, ...(level === refusals ? {} : { level }) };
  return { ...record, avoid: { ...record.avoid, [cluster]: avoided } };
}

/** The end of the avoidance after so many consecutive refusals. `level`: the consecutive refusals of Jobs of the same shape. */
export type NextAvoidance = (refusals: number) => { readonly untilMs: number; readonly level: number };

const refusalsOf = ({ avoid, cluster }: AdmissionRecord): number => avoid?.[cluster]?.refusals ?? 0;

/** Whether the placement in a record has failed: its cluster has nothing of the Job worth resuming. */
export const isRefused = ({ cluster, epoch, avoid }: AdmissionRecord): boolean => avoid?.[cluster]?.epoch === epoch;

/** Why and until when a Job with this record avoids a cluster; undefined if it does not. */
export function avoidance(
  record: AdmissionRecord | undefined,
  cluster: string,
  nowMs: number,
): { readonly untilMs: number; readonly problem: string } | undefined {
  const avoided = record?.avoid?.[cluster];
  if (avoided === undefined) return undefined;
  const untilMs = Date.parse(avoided.until);
  return nowMs < untilMs ? { untilMs, problem: wordsFor('it', avoided.reason, untilMs, avoided.refusals) } : undefined;
}

/** What a cluster did to `whom`, how often in a row, and until when it is avoided, as text. */
export function wordsFor(whom: string, reason: string, untilMs: number, times = 1): string {
  const count = times === 1 ? '' : `, ${times} times in a row`;
  return `${DEEDS[reason] ?? 'refused'} ${whom} (${reason}${count}), avoided until ${toWireTime(untilMs)}`;
}

/** The same for the placement in a record; undefined if that has not failed. */
export function refusalIn(record: AdmissionRecord): string | undefined {
  const avoided = isRefused(record) ? record.avoid?.[record.cluster] : undefined;
  return avoided && `${record.cluster} ${wordsFor('it', avoided.reason, Date.parse(avoided.until), avoided.refusals)}`;
}

const DEEDS: Readonly<Record<string, string>> = { [AvoidedReason.NotStarted]: 'did not start', [AvoidedReason.Fenced]: 'kept stopping' };

/** The refusals that the next record remembers; undefined if there are none. */
export function rememberedRefusals(
  record: AdmissionRecord | undefined,
  nowMs: number,
): Readonly<Record<string, AvoidedCluster>> | undefined {
  const young = Object.entries(record?.avoid ?? {}).filter(([, { until }]) => nowMs < Date.parse(until) + MAX_MS);
  return young.length === 0 ? undefined : Object.fromEntries(young);
}
