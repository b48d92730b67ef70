import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { History, HistoryQuery } from './history.ts';
import { belongsTo, type HistoryRecord } from './history-record.ts';

/** History for users: a namespace has the history of its own Jobs, and not that of an earlier namespace of its name. */
export interface NamespaceHistory extends Pick<History, 'podsOf' | 'tail'> {
  /** The latest first. `earlier`: for all namespaces that had this name, for users who may see every namespace. */
  query(
    query: Omit<HistoryQuery, 'namespace' | 'of'> & { readonly namespace: string; readonly earlier?: boolean },
  ): Promise<readonly HistoryRecord[]>;
  /** Jobs of any namespace that ended since then, the latest first, with the UID of the namespace where it is known. */
  endedSince(sinceMs: number, limit: number): Promise<readonly HistoryRecord[]>;
}

export function createNamespaceHistory(history: History, namespaces: Pick<NamespaceIdentities, 'of'>): NamespaceHistory {
  return {
    async query({ earlier = false, ...asked }) {
      if (earlier) return history.query(asked);
      const of = namespaces.of(asked.namespace);
      return of === undefined ? [] : history.query({ ...asked, of });
    },
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
