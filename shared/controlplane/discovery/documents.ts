import { type Answer, jsonAnswer, textAnswer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import { createDiscovery } from './discovery.ts';
import type { Registry } from 'prom-client';
import { KUBERNETES_VERSION } from '../apimachinery/kubernetes-version.ts';
import { createOpenApi } from './openapi/openapi.ts';
import { methodNotAllowedOnPath, StatusError } from '../apimachinery/status-error.ts';
import { type ApiRequest, headerOf } from '../request/request.ts';
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

function aboutServer({ info, request }: Call): Answer | undefined {
  const path = info.path === '/' ? '/' : info.path.replace(/\/$/, '');
  const health = /^\/(?:healthz|livez|readyz)(?:\/(.+))?$/.exec(path);
  if (health) return health[1] === undefined || HEALTH_CHECKS.includes(health[1]) ? textAnswer(200, 'ok') : undefined;
  switch (path) {
    case '/version':
      return versionAnswer(request);
    case '/':
      return jsonAnswer(
        200,
        JSON.stringify({ paths: ['/api', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'] }),
      );
    default:
      return undefined;
  }
}

/** Served by go-restful as JSON and nothing else. */
function versionAnswer(request: ApiRequest): Answer {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowedOnPath();
  const accept = headerOf(request, 'accept');
  const types = accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim());
  if (accept !== '' && !types.includes('*/*') && !types.includes('application/json')) {
    throw new StatusError(406, 'NotAcceptable', '406: Not Acceptable\n\nAvailable representations: application/json', {});
  }
  return jsonAnswer(200, JSON.stringify(KUBERNETES_VERSION));
}
