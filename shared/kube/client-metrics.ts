import { Counter, Histogram, type Registry } from 'prom-client';

/** What a client reports about its requests. */
export interface ClientMetrics {
  /** `code` is the HTTP status, or `<error>` when there was no answer. */
  answered(code: string, method: string, verb: string, durationMs: number): void;
  /** The rate limiter held a request back for `waitedMs` (0: not at all). */
  limited(verb: string, waitedMs: number): void;
  /** The server asked to try again later. */
  retried(code: number, verb: string): void;
}

/** client-go's buckets of both durations, in seconds. */
const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * client-go's metrics of a client, by host: `rest_client_requests_total{code,method,host}`,
 * `rest_client_request_duration_seconds{verb,host}`, `rest_client_rate_limiter_duration_seconds{verb,host}` and
 * `rest_client_request_retries_total{code,verb,host}`. With `home`, what the program's own cluster is called, all of them have a label
 * `cluster`, too. Build once per registry, then ask for each host's view.
 */
export function createClientMetrics(registry: Registry, home?: string): (host: string, cluster?: string) => ClientMetrics {
  const registers = [registry];
  const place = home === undefined ? [] : ['cluster'];
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host', ...place],
    registers,
  });
  const duration = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and host.',
    labelNames: ['verb', 'host', ...place],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const rateLimiter = new Histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    labelNames: ['verb', 'host', ...place],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const retries = new Counter({
    name: 'rest_client_request_retries_total',
    help: 'Number of request retries, partitioned by status code, verb, and host.',
    labelNames: ['code', 'verb', 'host', ...place],
    registers,
  });
  return (host, cluster) => {
    const of: Record<string, string> = home === undefined ? { host } : { host, cluster: cluster ?? home };
    return {
      answered: (code, method, verb, durationMs) => {
        requests.inc({ code, method, ...of });
        duration.observe({ verb, ...of }, durationMs / 1000);
      },
      limited: (verb, waitedMs) => rateLimiter.observe({ verb, ...of }, waitedMs / 1000),
      retried: (code, verb) => retries.inc({ code: String(code), verb, ...of }),
    };
  };
}
