import { Counter, type Registry } from 'prom-client';
import { fromZero } from '../../shared/runtime/zero-series.ts';

export type HistoryMetrics = ReturnType<typeof createHistoryMetrics>;

/** Registers the metrics of history. Call once for each registry: a second call throws. */
export function createHistoryMetrics(registers: Registry[]) {
  const entries = new Counter({
    name: 'switchyard_history_entries_total',
    help: 'Entries of history that were written, or dropped because the store took too long.',
    labelNames: ['result'],
    registers,
  });
  fromZero(entries, { result: ['written', 'dropped'] });
  return { entries };
}
