import { parseWireTime } from '../../shared/api/wire-time.ts';
import { QuantityError } from '../../shared/kube/quantity.ts';
import { inBaseUnit, parseAmount } from '../api/amount.ts';
import { keptPastOf, type Admission } from '../api/past-admissions.ts';
import type { HistoryRecord } from './history-record.ts';

/** By what a report sums: the user who submitted or created the Job, its namespace, its ClusterQueue, or its clusters. */
export const USAGE_GROUPS = ['user', 'namespace', 'queue', 'cluster'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Epoch milliseconds. */
export type UsagePeriod = { readonly fromMs: number; readonly untilMs: number };

/** Usage of the Jobs of a group in a period. */
export type UsageRow = {
  /** Empty where it is not recorded. */
  readonly name: string;
  /** Jobs that were admitted in the period, and those of them that failed. */
  readonly jobs: number;
  readonly failed: number;
  readonly admittedHours: number;
  /** By resource, the hours for which one unit of it was held: a core, a GiB, a pod, a device. */
  readonly hours: Readonly<Record<string, number>>;
};

export type UsageReport = UsagePeriod & {
  readonly by: UsageGroup;
  /** The largest first: by hours of cpu, then of admission. */
  readonly rows: readonly UsageRow[];
  /** More Jobs ended than were read: the earliest are missing. */
  readonly isPartial: boolean;
};

export const usageReport = (records: Iterable<HistoryRecord>, by: UsageGroup, period: UsagePeriod, isPartial: boolean): UsageReport => ({
  by,
  ...period,
  rows: usageOf(records, by, period),
  isPartial,
});

/** The sums of ended Jobs. Each admission counts as far as it lies in the period. */
function usageOf(records: Iterable<HistoryRecord>, by: UsageGroup, period: UsagePeriod): readonly UsageRow[] {
  const sums = new Map<string, Sum>();
  for (const record of records) {
    const units = unitsOf(record);
    const used = new Map<string, number>();
    for (const admission of admissionsOf(record)) {
      const ms = overlapMs(admission, period);
      if (ms === 0) continue;
      const name = groupOf(record, by, admission);
      used.set(name, (used.get(name) ?? 0) + ms / HOUR_MS);
    }
    for (const [name, hours] of used) {
      const sum = sums.get(name) ?? { jobs: 0, failed: 0, admittedHours: 0, hours: new Map<string, number>() };
      sums.set(name, sum);
      sum.jobs++;
      if (record.outcome === 'Failed') sum.failed++;
      sum.admittedHours += hours;
      for (const [resource, amount] of units) sum.hours.set(resource, (sum.hours.get(resource) ?? 0) + amount * hours);
    }
  }
  return [...sums]
    .map(([name, { hours, ...sum }]) => ({ name, ...sum, hours: Object.fromEntries(hours) }))
    .toSorted((a, b) => cpuOf(b) - cpuOf(a) || b.admittedHours - a.admittedHours || (a.name < b.name ? -1 : 1));
}

type Sum = { jobs: number; failed: number; admittedHours: number; readonly hours: Map<string, number> };

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;
const cpuOf = ({ hours }: UsageRow): number => hours['cpu'] ?? 0;

function groupOf({ submittedBy, user, namespace, clusterQueue }: HistoryRecord, by: UsageGroup, { cluster }: Admission): string {
  switch (by) {
    case 'user':
      return submittedBy ?? user ?? '';
    case 'namespace':
      return namespace;
    case 'queue':
      return clusterQueue ?? '';
    case 'cluster':
      return cluster ?? '';
  }
}

/** Time of admissions whose beginning is not recorded counts as directly before those that are. */
function admissionsOf(record: HistoryRecord): readonly Admission[] {
  const { admissions, unknownUntilMs } = keptPastOf(record);
  if (unknownUntilMs === undefined) return admissions;
  const knownMs = admissions.reduce((sum, { fromMs, untilMs = fromMs }) => sum + untilMs - fromMs, 0);
  const missingMs = Math.max(0, (record.admittedSeconds ?? 0) * 1000 - knownMs);
  const fromMs = Math.max(unknownUntilMs - missingMs, parseWireTime(record.created) ?? 0);
  return [{ fromMs, untilMs: unknownUntilMs, ...(record.cluster === undefined ? {} : { cluster: record.cluster }) }, ...admissions];
}

const overlapMs = ({ fromMs, untilMs = Number.POSITIVE_INFINITY }: Admission, period: UsagePeriod): number =>
  Math.max(0, Math.min(untilMs, period.untilMs) - Math.max(fromMs, period.fromMs));

function unitsOf({ requests = {} }: HistoryRecord): readonly (readonly [resource: string, units: number])[] {
  return Object.entries(requests).flatMap(([resource, quantity]) => {
    try {
      const amount = inBaseUnit(resource, parseAmount(resource, quantity));
      return [[resource, isOfBytes(resource) ? amount / GIB : amount] as const];
    } catch (error) {
      // Anyone who may write to the store can have written it.
      if (error instanceof QuantityError) return [];
      throw error;
    }
  });
}

const isOfBytes = (resource: string): boolean =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
