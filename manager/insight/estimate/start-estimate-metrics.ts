import { Counter, type Registry } from 'prom-client';
import { fromZero } from '../../../shared/runtime/zero-series.ts';
import { EstimateOutcome } from './estimate-outcome.ts';

export type StartEstimateMetrics = ReturnType<typeof createStartEstimateMetrics>;

/** Registers the metrics of estimated starts. Call once for a registry: a second time throws. */
export function createStartEstimateMetrics(registers: Registry[]) {
  const startEstimates = new Counter({
    name: 'switchyard_start_estimates_total',
    help: 'Estimated starts of a sample of waiting Jobs, by outcome: admitted before, within or after the interval, withdrawn, or unknown.',
    labelNames: ['outcome'],
    registers,
  });
  fromZero(startEstimates, { outcome: Object.values(EstimateOutcome) });
  return { startEstimates };
}
