import type { LedgerEntry } from '../../manager/submission/ledger.ts';
import type { SubmissionLedger, TenantLedger } from '../../manager/submission/ledger-store.ts';

/** A ledger in memory, of which every write succeeds at once. */
export function memoryLedger(): SubmissionLedger & { readonly entries: Map<string, LedgerEntry> } {
  const entries = new Map<string, LedgerEntry>();
  const of = (tenant: string): TenantLedger => {
    const name = (key: string): string => `${tenant}/${key}`;
    return {
      get: (key) => entries.get(name(key)),
      put: async (key, entry) => void entries.set(name(key), entry),
      isWritten: () => true,
      written: async () => undefined,
      adopt: (key, entry) => void entries.set(name(key), entry),
      mark(key, transition) {
        const entry = entries.get(name(key));
        const next = entry && transition(entry);
        if (next !== undefined) entries.set(name(key), next);
      },
    };
  };
  return { entries, of, loaded: async () => undefined, run: async () => undefined };
}
