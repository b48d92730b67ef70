import { Counter, Histogram, type Registry } from 'prom-client';

export type CanaryMetrics = {
  readonly stages: Pick<Histogram<'cluster' | 'stage'>, 'observe'>;
  readonly runs: Pick<Counter<'cluster' | 'outcome'>, 'inc'>;
};

/** Registers the metrics of canaries. Call once for each registry: a second call throws. */
export const createCanaryMetrics = (registry: Registry): CanaryMetrics => ({
  stages: new Histogram({
    name: 'switchyard_canary_stage_seconds',
    help: 'Time that canaries took for each stage: queued, admitted, dispatched, started, and finished for all of it.',
    labelNames: ['cluster', 'stage'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320],
    registers: [registry],
  }),
  runs: new Counter({
    name: 'switchyard_canary_runs_total',
    help: 'Canaries that have ended, by outcome: complete, failed, timeout, not_admitted (in time), withdrawn (its cluster was cordoned or not ready, or it was deleted), refused (not created).',
    labelNames: ['cluster', 'outcome'],
    registers: [registry],
  }),
});
