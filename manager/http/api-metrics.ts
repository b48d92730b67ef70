import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LATENCY_BUCKETS } from '../../shared/runtime/latency-buckets.ts';

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** Metrics of the HTTP API. Labels have path patterns, so that clients cannot create series. */
export function createApiMetrics(registers: Registry[]) {
  return {
    requests: new Counter({
      name: 'switchyard_api_requests_total',
      help: 'Answered requests to the HTTP API, by route, method and status.',
      labelNames: ['route', 'method', 'code'],
      registers,
    }),
    duration: new Histogram({
      name: 'switchyard_api_request_duration_seconds',
      help: 'Time until a request to the HTTP API was answered, streams not counted.',
      labelNames: ['route', 'method'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    streams: new Gauge({ name: 'switchyard_api_streams', help: 'Streams of events of the HTTP API that are open.', registers }),
  };
}
