/** Values that both charts have, and that mean the same in both. */
import { Type } from 'typebox';
import {
  choice,
  group,
  isOn,
  kubernetesObject,
  kubernetesObjects,
  peers,
  port,
  ports,
  share,
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
    1,
  ),
  image: group('', {
    repository: text('Where the image of both programs is. What npm run image builds goes there.', 'ghcr.io/switchyard/switchyard', {
      minLength: 1,
    }),
    tag: text("Defaults to the chart's appVersion."),
    digest: text('sha256:... of the image. With it nobody can put another image under the tag.', '', {
      pattern: '^(sha256:[0-9a-f]{64})?$',
    }),
    pullPolicy: choice('When a node pulls the image.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
  }),
  imagePullSecrets: kubernetesObjects('Secrets with which the image is pulled, such as `- name: registry`.'),
  nameOverride: text('What stands for the name of the chart in names and labels.'),
  fullnameOverride: text('The name of all objects, instead of one made of release and chart.'),
  serviceAccount: group('', {
    create: isOn('Makes the ServiceAccount.', true),
    name: text('Defaults to the full name of the release.'),
    annotations: textMap('Annotations of the ServiceAccount, such as those by which a cloud knows it.'),
    tokenExpirationSeconds: wholeNumber('The kubelet makes a new token when four fifths of this time are over.', 3600, 600),
  }),
});

export const RBAC_CREATE = isOn('Makes the roles that the program needs, and binds its ServiceAccount to them.', true);

export const metricsValues = (authentication: ChartValue, withoutSecret: string): ChartValue =>
  group('', {
    port: port('/metrics, /healthz and /readyz.', 8080),
    authentication: group('', { enabled: authentication }),
    tls: group('Serves /metrics, /healthz and /readyz over HTTPS.', {
      enabled: isOn('', false),
      existingSecret: text(`A kubernetes.io/tls Secret with the certificate, read again when it changes. ${withoutSecret}`),
    }),
  });

export const METRICS_AUTHENTICATION =
  '/metrics asks for a bearer token whose user may get it, which the API server is asked (docs/security.md). Health stays open. Also makes a ClusterRole NAME-metrics-reader to bind scrapers to.';

/** `memoryRequest` is what one pod is likely to take; `graceSeconds` how long it may take to end. */
export const podValues = (memoryRequest: string, graceSeconds: number): Record<string, ChartValue> => ({
  resources: kubernetesObject('What a pod asks for, and the memory it may have (docs/benchmarks.md).', {
    requests: { cpu: '100m', memory: memoryRequest },
    limits: { memory: '1Gi' },
  }),
  commonLabels: textMap('Labels of all objects of the release, pods included.'),
  podAnnotations: textMap('Annotations of the pods.'),
  podLabels: textMap('The labels by which the Deployment knows its pods stay as they are: naming one of them here is refused.'),
  nodeSelector: textMap('Labels of the nodes that pods may run on.'),
  tolerations: kubernetesObjects('Taints of nodes that pods may run on.'),
  affinity: kubernetesObject('Empty: replicas prefer nodes apart from one another.'),
  topologySpreadConstraints: kubernetesObjects('Empty: replicas are spread over zones, as far as that goes.'),
  priorityClassName: text('Such as system-cluster-critical, so that it is not evicted for the sake of Jobs.'),
  strategy: kubernetesObject('Empty: a new pod is ready before an old one goes; with hostNetwork the old one goes first.'),
  terminationGracePeriodSeconds: wholeNumber('How long a pod may take to end: it needs 25s to finish what it does.', graceSeconds, 1),
  hostNetwork: isOn('For clusters whose API server does not reach pods otherwise. Its ports are then those of the node.', false),
  dnsPolicy: text('Empty: ClusterFirst, and with hostNetwork ClusterFirstWithHostNet.'),
  dnsConfig: kubernetesObject('Of the pods.'),
  podSecurityContext: kubernetesObject('With securityContext, what the Pod Security Standard `restricted` asks for.', {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  }),
  securityContext: kubernetesObject('Of the container.', {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  startupProbe: kubernetesObject('Whether it is up, and from then on alive (/healthz) and ready (/readyz).', {
    periodSeconds: 2,
    failureThreshold: 60,
  }),
  livenessProbe: kubernetesObject('What fails it, is restarted.', { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }),
  readinessProbe: kubernetesObject('What fails it gets no requests: the webhook has other replicas.', {
    periodSeconds: 5,
    timeoutSeconds: 5,
  }),
  podDisruptionBudget: group('Of more than one replica only so many are evicted at once.', {
    enabled: isOn('', true),
    maxUnavailable: share('A number or a percentage.', 1),
    minAvailable: share('Instead of maxUnavailable, where it is set: a number or a percentage.'),
  }),
  extraEnv: kubernetesObjects('Further environment variables of the program. A flag that the chart passes counts more than its variable.'),
  extraArgs: texts('Further flags of the program. Of a flag that is given twice the last one counts, which is the one that stands here.'),
  extraVolumes: kubernetesObjects('Further volumes of the pods.'),
  extraVolumeMounts: kubernetesObjects('Where they are mounted.'),
  extraObjects: Type.Unsafe({
    type: 'array',
    items: { type: ['object', 'string'] },
    description: 'Further objects of the release, as YAML or as text; both may have templates in them.',
    default: [],
  }),
});

const namespaceNamed = (name: string): object => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } });
/** Pods of this cluster, in whatever namespace. */
export const ANY_POD: readonly object[] = [{ namespaceSelector: {} }];

/** NetworkPolicy: it lets through what it names, and nothing else. `own` are the doors and ways that only one program has. */
export const networkPolicyValues = (apiServers: string, own: Readonly<Record<string, ChartValue>> = {}): Record<string, ChartValue> => ({
  networkPolicy: group(
    'A NetworkPolicy that lets through what it names, and nothing else. Each from and to is a list of its peers, of which an empty one lets nobody through, or the word anywhere.',
    {
      enabled: isOn('', true),
      metrics: group('', {
        from: peers(
          'Who may scrape the metrics: the namespace of your Prometheus. Probes of the kubelet come from the node, which is let through anyway.',
          [namespaceNamed('monitoring')],
        ),
      }),
      dns: group('Where names are looked up: the pods of kube-system, and a cache on the node.', {
        ports: ports('', [53]),
        to: peers('', [namespaceNamed('kube-system'), { ipBlock: { cidr: '169.254.20.10/32' } }], 1),
      }),
      apiServer: group(apiServers, {
        ports: ports('Those of the endpoints, behind the Service.', [443, 6443, 8443, 16_443]),
        to: peers('API servers are no pods, and only you know their addresses: name them as ipBlock.', 'anywhere', 1),
      }),
      ...own,
      otlp: group('', { to: peers('Where the collector of traces is, at the port of config.otlpEndpoint.', 'anywhere', 1) }),
      extraIngress: kubernetesObjects('Further rules.'),
      extraEgress: kubernetesObjects('Further rules, such as one for what extraEnv names.'),
    },
  ),
});

const monitor = (kind: string): ChartValue =>
  group(`A ${kind} for the Prometheus Operator, whose definitions must be there.`, {
    enabled: isOn('', false),
    namespace: text('Defaults to the namespace of the release.'),
    additionalLabels: textMap(`By which the operator finds it, such as release: prometheus.`),
    annotations: textMap('Its annotations.'),
    interval: text('How often.', '30s', { pattern: '^[0-9]+(ms|s|m|h)$' }),
    scrapeTimeout: text('How long that may take. Empty: what Prometheus has as its default.', '', { pattern: '^([0-9]+(ms|s|m|h))?$' }),
    endpoint: kubernetesObject('Further fields of its endpoint: authorization, relabelings, metricRelabelings and others.'),
  });

export const MONITOR_VALUES: Record<string, ChartValue> = {
  serviceMonitor: monitor('ServiceMonitor'),
  podMonitor: monitor('PodMonitor'),
};
