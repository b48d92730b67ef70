/**
 * Kinds of others that our charts make, with the fields that their published definitions have: a field that is not among these is refused.
 */
import type { Resource } from '../../shared/api/resources.ts';

type Schema = Record<string, unknown>;
const TEXT: Schema = { type: 'string' };
const WHOLE: Schema = { type: 'integer' };
const TRUTH: Schema = { type: 'boolean' };
const OPEN: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const TEXTS: Schema = { type: 'object', additionalProperties: TEXT };
const list = (items: Schema): Schema => ({ type: 'array', items });
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});
/** Fields of one kind, by their names. */
const fields = (names: string, schema: Schema): Record<string, Schema> =>
  Object.fromEntries(names.split(' ').map((name) => [name, schema]));
const SELECTOR = object({ matchLabels: TEXTS, matchExpressions: list(OPEN) });

/** Prometheus Operator v1, Endpoint and PodMetricsEndpoint; the latter knows no files of its own pod. */
const ENDPOINT: Record<string, Schema> = {
  scheme: { type: 'string', enum: ['http', 'https'] },
  ...fields('port path interval scrapeTimeout proxyUrl', TEXT),
  ...fields('params tlsConfig authorization basicAuth oauth2 bearerTokenSecret', OPEN),
  ...fields('honorLabels honorTimestamps followRedirects enableHttp2 filterRunning', TRUTH),
  ...fields('metricRelabelings relabelings', list(OPEN)),
};
const MONITOR = {
  selector: SELECTOR,
  namespaceSelector: object({ any: TRUTH, matchNames: list(TEXT) }),
  jobLabel: TEXT,
  sampleLimit: WHOLE,
};
const RULE = object(
  {
    expr: { 'x-kubernetes-int-or-string': true },
    ...fields('alert record for keep_firing_for', TEXT),
    ...fields('labels annotations', TEXTS),
  },
  ['expr'],
);
/** cert-manager v1. */
const CERTIFICATE = object(
  {
    issuerRef: object(fields('name kind group', TEXT), ['name']),
    ...fields('secretName commonName duration renewBefore', TEXT),
    ...fields('dnsNames usages', list(TEXT)),
    ...fields('privateKey secretTemplate subject', OPEN),
    isCA: TRUTH,
    revisionHistoryLimit: WHOLE,
  },
  ['secretName', 'issuerRef'],
);

const SPECS: readonly (readonly [group: string, kind: string, spec: Schema])[] = [
  [
    'monitoring.coreos.com',
    'ServiceMonitor',
    object({ ...MONITOR, targetLabels: list(TEXT), endpoints: list(object({ ...ENDPOINT, targetPort: OPEN, bearerTokenFile: TEXT })) }, [
      'endpoints',
      'selector',
    ]),
  ],
  ['monitoring.coreos.com', 'PodMonitor', object({ ...MONITOR, podMetricsEndpoints: list(object(ENDPOINT)) }, ['selector'])],
  [
    'monitoring.coreos.com',
    'PrometheusRule',
    object({ groups: list(object({ name: TEXT, interval: TEXT, limit: WHOLE, rules: list(RULE) }, ['name'])) }),
  ],
  ['cert-manager.io', 'Certificate', CERTIFICATE],
  ['cert-manager.io', 'Issuer', object({ selfSigned: OPEN, ca: object({ secretName: TEXT }, ['secretName']) })],
];

export const FOREIGN_KINDS: readonly { readonly resource: Resource; readonly definition: object }[] = SPECS.map(([group, kind, spec]) => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    resource: { group, version: 'v1', plural, kind, namespaced: true },
    definition: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object({ spec }) } }],
      },
    },
  };
});
