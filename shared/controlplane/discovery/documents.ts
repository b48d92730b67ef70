import { type Answer, jsonAnswer, textAnswer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import { createDiscovery } from './discovery.ts';
import type { Registry } from 'prom-client';
import { KUBERNETES_VERSION } from '../apimachinery/kubernetes-version.ts';
import { createOpenApi } from './openapi/openapi.ts';
import type { ServedResources } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';

const HEALTH_CHECKS = ['ping', 'etcd', 'log'];

/** Answers the paths that are about the server itself. Undefined for an unknown path. */
export function createDocuments(
  resources: ServedResources,
  subresources: readonly Subresource[],
  metrics: Registry,
): (call: Call) => Promise<Answer> | Answer | undefined {
  const discovery = createDiscovery(resources, subresources);
  const openApi = createOpenApi(resources, KUBERNETES_VERSION.gitVersion);
  return (call) => (call.info.path === '/metrics' ? metricsAnswer(metrics) : (discovery(call) ?? openApi(call) ?? aboutServer(call)));
}

async function metricsAnswer(metrics: Registry): Promise<Answer> {
  return { kind: 'whole', status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.metrics() };
}

function aboutServer({ info }: Call): Answer | undefined {
  const path = info.path === '/' ? '/' : info.path.replace(/\/$/, '');
  const health = /^\/(?:healthz|livez|readyz)(?:\/(.+))?$/.exec(path);
  if (health) return health[1] === undefined || HEALTH_CHECKS.includes(health[1]) ? textAnswer(200, 'ok') : undefined;
  switch (path) {
    case '/version':
      return jsonAnswer(200, JSON.stringify(KUBERNETES_VERSION));
    case '/':
      return jsonAnswer(
        200,
        JSON.stringify({ paths: ['/api', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'] }),
      );
    default:
      return undefined;
  }
}
