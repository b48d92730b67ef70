import { seededRandom } from '../../shared/runtime/random.ts';
import type { Chart } from './helm.ts';

/** One way to install a chart: values as `renderChart` takes them. */
export type Combination = { readonly chart: Chart; readonly values: readonly string[] };

/** What can be chosen independently of the rest, and how; '' is the default. */
const COMMON: readonly (readonly string[])[] = [
  ['', 'replicaCount=1', 'replicaCount=5;podDisruptionBudget.minAvailable=60%', 'podDisruptionBudget.enabled=false'],
  ['', `image.digest=sha256:${'0f'.repeat(32)}`, 'image.tag=9.9.9;image.pullPolicy=Always;imagePullSecrets[0].name=registry'],
  ['', 'nameOverride=short', 'fullnameOverride=jobs', `fullnameOverride=${'long-'.repeat(14)}name`],
  [
    '',
    'serviceAccount.create=false;serviceAccount.name=mine',
    'serviceAccount.annotations.example\\.com/role=a',
    'serviceAccount.tokenExpirationSeconds=600',
  ],
  ['', 'rbac.create=false'],
  ['', 'metrics.authentication.enabled=false', 'metrics.port=9100'],
  [
    '',
    'serviceMonitor.enabled=true',
    'podMonitor.enabled=true;podMonitor.scrapeTimeout=10s;podMonitor.endpoint.authorization.credentials.name=a;podMonitor.endpoint.authorization.credentials.key=b',
    'serviceMonitor.enabled=true;serviceMonitor.namespace=monitoring;serviceMonitor.additionalLabels.release=p',
  ],
  ['', 'prometheusRule.enabled=true'],
  [
    '',
    'networkPolicy.enabled=false',
    'networkPolicy.metrics.from:=[]',
    'config.otlpEndpoint=http://collector:4318;networkPolicy.apiServer.to[0].ipBlock.cidr=10.0.0.0/8;networkPolicy.metrics.from[0].namespaceSelector.matchLabels.team=observe',
  ],
  ['', 'hostNetwork=true', 'dnsPolicy=None;dnsConfig.nameservers={10.0.0.10}'],
  ['', 'affinity.nodeAffinity:={}', 'topologySpreadConstraints:=[{"maxSkew":2,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule"}]'],
  [
    '',
    'tolerations:=[{"key":"control-plane","operator":"Exists","effect":"NoSchedule"}];nodeSelector.disk=ssd',
    'priorityClassName=system-cluster-critical;strategy.type=Recreate',
  ],
  ['', 'commonLabels.team=batch;podLabels.tier=control;podAnnotations.note=x'],
  ['', 'podSecurityContext.fsGroup=7;securityContext.runAsUser=7', 'podSecurityContext.runAsUser=null'],
  [
    '',
    'extraEnv[0].name=A,extraEnv[0].value=b;extraArgs={--log-level=warn}',
    'extraVolumes[0].name=more;extraVolumes[0].emptyDir.sizeLimit=1Mi;extraVolumeMounts[0].name=more;extraVolumeMounts[0].mountPath=/more',
  ],
  ['', 'extraObjects:=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-more"}}]'],
  ['', 'config.logLevel=debug;config.kubeApiQps:=0.5;config.kubeApiBurst=2000000'],
]; // prettier-ignore

const OWN: Readonly<Record<Chart, readonly (readonly string[])[]>> = {
  manager: [
    ['crds.enabled=false', 'crds.enabled=false', 'crds.enabled=false', 'crds.keep=false', ''],
    [
      '',
      'redis.url=rediss://u:p@redis:6380',
      'redis.existingSecret=mine',
      'redis.evaluation.enabled=true',
      'redis.sentinels={a:26379,b:26379};redis.sentinelName=main;redis.passwordSecret=p;redis.tls.existingSecret=ca',
      'redis.clusterNodes={a:7000};config.redisPrefix=mine',
    ],
    [
      '',
      'history.enabled=false',
      'history.existingClaim=mine',
      'history.store=s3://jobs/a;history.credentialsSecret=keys',
      'history.storeSecret=where',
      'history.store=redis://:p@redis:6379',
    ],
    [
      '',
      'api.enabled=true;dashboard.enabled=true;dashboard.liveLogs=true',
      'api.enabled=true;api.port=9000;api.tls.existingSecret=own',
      'dashboard.enabled=true;dashboard.tls.existingSecret=seen',
    ],
    ['', 'localWorker.enabled=true;localWorker.users={worker}'],
    [
      '',
      'webhook.failurePolicy=Ignore;webhook.timeoutSeconds=10',
      'webhook.excludedNamespaces={kube-system,platform}',
      'webhook.port=10250',
    ],
    ['', 'admissionPolicy.enabled=false', 'config.kueueQueueLabel=true;config.otherManagers={hub}'],
    ['', 'submissions.impersonate={*}', 'submissions.impersonate:=[]', 'config.submissionNamespaces={*};config.allowManagerIdentity=true'],
    ['', 'dashboards.enabled=true'],
    ['', 'rbac.aggregateAdmin=true', 'rbac.aggregateClusterRoles=false'],
    [
      '',
      'config.fairSharing.enabled=true',
      'config.admissionFairSharing.halfLife=168h;config.admissionFairSharing.resourceWeights.cpu=2',
      'config.decisionLog=-;preStopSleepSeconds=0',
    ],
  ],
  worker: [
    [
      '',
      'managerAccess.create=false',
      'managerAccess.namespaces={a,b}',
      'config.namespaces={a,b};managerAccess.namespaces={a}',
      'managerAccess.createNamespaces=true;managerAccess.liveLogs=true',
      'managerAccess.nodes=false;managerAccess.logs=false',
    ],
    ['', 'config.controllerName=kubernetes.io/job-controller;config.controllers={job,ttl-after-finished}', 'config.keepLogs=None'],
    ['', 'config.fenceAfter=0', 'config.fenceAfter=5m;config.leaseNamespace=switchyard'],
  ],
}; // prettier-ignore

/** So many ways, the same every time; of each factor every choice comes up as often as every other. */
export function combinations(chart: Chart, count: number): Combination[] {
  const random = seededRandom(chart.length);
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item); // prettier-ignore
  const drawn = [...COMMON, ...OWN[chart]].map((choices) => {
    const rounds = Math.ceil(count / choices.length);
    return Array.from({ length: rounds }, () => shuffled(choices)).flat();
  });
  return Array.from({ length: count }, (_, index) => ({
    chart,
    values: drawn.flatMap((choices) => (choices[index] ?? '').split(';').filter((value) => value !== '')),
  }));
}
