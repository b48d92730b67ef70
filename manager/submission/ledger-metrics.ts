import { Counter, Gauge, type Registry } from 'prom-client';

export type LedgerMetrics = ReturnType<typeof createLedgerMetrics>;

/** Registers the metrics of the ledger of submissions. Call once for a registry: a second time throws. */
export function createLedgerMetrics(registers: Registry[]) {
  return {
    entries: new Gauge({
      name: 'switchyard_submission_ledger_entries',
      help: 'Entries in the ledger of submissions.',
      registers,
    }),
    chunks: new Gauge({ name: 'switchyard_submission_ledger_chunks', help: 'ConfigMaps of the ledger of submissions.', registers }),
    horizon: new Gauge({
      name: 'switchyard_submission_ledger_horizon_seconds',
      help: 'For how long keys of submissions are remembered, of the tenant with the most: seven days at most.',
      registers,
    }),
    writes: new Counter({
      name: 'switchyard_submission_ledger_writes_total',
      help: 'Writes to the ledger of submissions.',
      registers,
    }),
  };
}
