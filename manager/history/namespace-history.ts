import { createFairSlots } from '../../shared/runtime/fair-slots.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { History, HistoryQuery } from './history.ts';
import { belongsTo, type HistoryRecord } from './history-record.ts';
import { usageReport, type UsageGroup, type UsagePeriod, type UsageReport } from './usage-report.ts';

/** History for users: a namespace has the history of its own Jobs, and not that of an earlier namespace of its name. */
export interface NamespaceHistory extends Pick<History, 'podsOf' | 'tail'> {
  /** The latest first. `earlier`: for all namespaces that had this name, for users who may see every namespace. */
  query(
    query: Omit<HistoryQuery, 'namespace' | 'of'> & { readonly namespace: string; readonly earlier?: boolean },
  ): Promise<readonly HistoryRecord[]>;
  /**
   * What Jobs of a namespace used in a period, by its last {@link USAGE_RECORDS_MAX} Jobs that ended since it began. One sum of a namespace
   * at a time; rejects with TooMuchWaits where too many wait.
   */
  usage(asked: UsagePeriod & { readonly namespace: string; readonly by: UsageGroup }): Promise<UsageReport>;
  /**
   * The same over several namespaces, or over all with those that are gone; by the last {@link USAGE_RECORDS_MAX} Jobs of the first
   * {@link NAMESPACES_MAX}. `owner`: the user whose turn the sum takes.
   */
  usageOfAll(
    asked: UsagePeriod & { readonly namespaces: readonly string[] | 'All'; readonly by: UsageGroup; readonly owner: string },
  ): Promise<UsageReport>;
  /** Jobs of any namespace that ended since then, the latest first, with the UID of the namespace where it is known. */
  endedSince(sinceMs: number, limit: number): Promise<readonly HistoryRecord[]>;
}

/** Each is an object of its store. */
const USAGE_RECORDS_MAX = 10_000;
/** Namespaces of one sum. */
const NAMESPACES_MAX = 50;
/** Sums at once, an eighth of them for one namespace. */
const SUMS_AT_ONCE = 8;
const SUMS_WAITING_MAX = 2;

export function createNamespaceHistory(history: History, namespaces: Pick<NamespaceIdentities, 'of'>): NamespaceHistory {
  const turns = createFairSlots({ all: SUMS_AT_ONCE, waitingMax: SUMS_WAITING_MAX });
  const query: NamespaceHistory['query'] = async ({ earlier = false, ...asked }) => {
    if (earlier) return history.query(asked);
    const of = namespaces.of(asked.namespace);
    return of === undefined ? [] : history.query({ ...asked, of });
  };
  return {
    query,
    usage: ({ by, fromMs, untilMs, namespace }) =>
      turns.run(namespace, async () => {
        const records = await query({ namespace, sinceMs: fromMs, limit: USAGE_RECORDS_MAX });
        return usageReport(records, by, { fromMs, untilMs }, records.length >= USAGE_RECORDS_MAX);
      }),
    usageOfAll: ({ by, fromMs, untilMs, namespaces: names, owner }) =>
      turns.run(owner, async () => {
        const records: HistoryRecord[] = [];
        const asked = { sinceMs: fromMs, limit: USAGE_RECORDS_MAX };
        if (names === 'All') records.push(...(await history.query(asked)));
        else
          for (const namespace of names.slice(0, NAMESPACES_MAX)) {
            const limit = USAGE_RECORDS_MAX - records.length;
            if (limit > 0) records.push(...(await query({ ...asked, namespace, limit })));
          }
        const isPartial = records.length >= USAGE_RECORDS_MAX || (names !== 'All' && names.length > NAMESPACES_MAX);
        return usageReport(records, by, { fromMs, untilMs }, isPartial);
      }),
    async endedSince(sinceMs, limit) {
      const records = await history.query({ sinceMs, limit });
      return records.map((record) => {
        const now = namespaces.of(record.namespace);
        return now !== undefined && belongsTo(record, now) ? { ...record, namespaceUid: now.uid } : record;
      });
    },
    podsOf: (uid) => history.podsOf(uid),
    tail: (uid, copyUid, pod) => history.tail(uid, copyUid, pod),
  };
}
