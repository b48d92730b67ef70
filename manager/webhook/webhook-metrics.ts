import { Counter, Histogram, type Registry } from 'prom-client';
import { LATENCY_BUCKETS } from '../../shared/runtime/latency-buckets.ts';
import { fromZero } from '../../shared/runtime/zero-series.ts';

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

/** Registers the metrics of the webhooks. Call once for each registry: a second call throws. */
export function createWebhookMetrics(registers: Registry[]) {
  const requests = new Counter({
    name: 'switchyard_webhook_requests_total',
    help: 'Reviews by the webhooks (mutate, mutate-unlabelled, validate, override), by outcome: allowed, refused or error.',
    labelNames: ['webhook', 'outcome'],
    registers,
  });
  fromZero(requests, { webhook: ['mutate', 'mutate-unlabelled', 'validate', 'override'], outcome: ['allowed', 'refused', 'error'] });
  return {
    requests,
    duration: new Histogram({
      name: 'switchyard_webhook_duration_seconds',
      help: 'Time until a review was answered.',
      labelNames: ['webhook'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
  };
}
