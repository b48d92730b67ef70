import type { Registry } from 'prom-client';
import { createClientMetrics } from '../../shared/kube/client-metrics.ts';
import type { AnswerLimits } from '../../shared/kube/answer-limits.ts';
import type { KubeClient, StreamClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { createKubeClient, type ActingAs } from '../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { ApiRate } from '../../shared/kube/rate-limiter.ts';

/** The manager's own cluster in the label `cluster`. */
export const HOME = 'home';

/** Without `limits`: those of a trusted server. */
export type ClientFactory = (
  transport: Transport,
  access: ClusterAccess,
  rate: ApiRate,
  options?: { readonly limits?: AnswerLimits; readonly actAs?: ActingAs },
) => KubeClient & StreamClient;

/** Creates clients that share their metrics, each with a rate limit of its own. Call once for each registry. */
export function createClientFactory({ registry, clock }: { readonly registry: Registry; readonly clock: Clock }): ClientFactory {
  const metricsOf = createClientMetrics(registry, HOME);
  return (transport, { server, alias }, rate, { limits, actAs } = {}) =>
    createKubeClient(transport, {
      userAgent: 'switchyard-manager',
      clock,
      rateLimiter: createRateLimiter({ ...rate, clock }),
      metrics: metricsOf(alias ?? new URL(server).host, alias),
      ...omitUndefined({ limits, actAs }),
    });
}
