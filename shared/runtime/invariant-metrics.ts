import { Counter, Gauge, type Registry } from 'prom-client';

export type InvariantMetrics = {
  readonly violations: Pick<Gauge<'invariant'>, 'set'>;
  readonly checks: Pick<Counter<'invariant'>, 'inc'>;
};

/** Registers the metrics of invariants. Call once for a registry: a second time throws. */
export const createInvariantMetrics = (registry: Registry): InvariantMetrics => ({
  violations: new Gauge({
    name: 'switchyard_invariant_violations',
    help: 'Violations of invariants beyond their grace period, by invariant. Anything but 0 is a bug, or a client that interferes.',
    labelNames: ['invariant'],
    registers: [registry],
  }),
  checks: new Counter({
    name: 'switchyard_invariant_checks_total',
    help: 'Looks whether an invariant holds, by invariant.',
    labelNames: ['invariant'],
    registers: [registry],
  }),
});
