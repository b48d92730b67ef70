import { Counter, type Registry } from 'prom-client';
import { fromZero } from '../../shared/runtime/zero-series.ts';

export type AuditMetrics = ReturnType<typeof createAuditMetrics>;

/** Registers the metrics of the audit log. Call once for a registry: a second time throws. */
export function createAuditMetrics(registers: Registry[]) {
  const dropped = new Counter({
    name: 'switchyard_audit_dropped_total',
    help: 'Lines that the audit log misses: slow (its file took no more), anonymous (too many unknown callers).',
    labelNames: ['reason'],
    registers,
  });
  fromZero(dropped, { reason: ['slow', 'anonymous'] });
  return { dropped };
}
