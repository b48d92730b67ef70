/** Values that both charts have, and that mean the same in both. */
import {
  choice,
  group,
  isOn,
  kubernetesObject,
  kubernetesObjects,
  port,
  text,
  textMap,
  texts,
  wholeNumber,
  type ChartValue,
} from './chart-value.ts';

/** `programs` is what runs more than once. */
export const headValues = (programs: string): Record<string, ChartValue> => ({
  global: kubernetesObject('Values that a chart around this one has for all of its parts. None is taken.'),
  replicaCount: wholeNumber(
    `How many ${programs} run. With more than one, one leads and the others stand by (leader election is always on).`,
    2,
  ),
  image: group('', {
    repository: text('', 'ghcr.io/switchyard/switchyard', { minLength: 1 }),
    tag: text("Defaults to the chart's appVersion."),
    digest: text('sha256:... of the image. With it nobody can put another image under the tag.', '', {
      pattern: '^(sha256:[0-9a-f]{64})?$',
    }),
    pullPolicy: choice('', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
  }),
  imagePullSecrets: kubernetesObjects('Secrets with which the image is pulled, such as `- name: registry`.'),
  nameOverride: text(''),
  fullnameOverride: text(''),
  serviceAccount: group('', {
    create: isOn('', true),
    name: text('Defaults to the full name of the release.'),
    annotations: textMap(''),
  }),
  rbac: group('', { create: isOn('Makes the roles that the program needs, and binds its ServiceAccount to them.', true) }),
});

export const metricsValues = (authentication: ChartValue): ChartValue =>
  group('', {
    port: port('/metrics, /healthz and /readyz.', 8080),
    authentication: group('', { enabled: authentication }),
  });

export const METRICS_AUTHENTICATION =
  '/metrics asks for a bearer token whose user may get it, which the API server is asked (docs/security.md). Health stays open. Also makes a ClusterRole NAME-metrics-reader to bind scrapers to.';

export const podValues = (memoryRequest: string): Record<string, ChartValue> => ({
  resources: kubernetesObject('', { requests: { cpu: '100m', memory: memoryRequest }, limits: { memory: '1Gi' } }),
  podAnnotations: textMap(''),
  podLabels: textMap(''),
  nodeSelector: textMap(''),
  tolerations: kubernetesObjects(''),
  affinity: kubernetesObject(''),
  topologySpreadConstraints: kubernetesObjects(''),
  priorityClassName: text(''),
  terminationGracePeriodSeconds: wholeNumber('', 30),
  extraEnv: kubernetesObjects('Further environment variables of the program. A flag that the chart passes counts more than its variable.'),
  extraArgs: texts('Further flags of the program. Of a flag that is given twice the last one counts, which is the one that stands here.'),
});
