/** The values of the chart switchyard-manager. */
import { Type } from 'typebox';
import { MANAGER_PROGRAM } from '../../manager/config/config.ts';
import {
  choice,
  flagValue,
  flagValues,
  group,
  isOn,
  kubernetesObject,
  peers,
  port,
  ports,
  text,
  texts,
  wholeNumber,
  type ChartValue,
} from './chart-value.ts';
import { DASHBOARD_VALUES, prometheusRuleValues } from './monitoring-values.ts';
import {
  ANY_POD,
  headValues,
  METRICS_AUTHENTICATION,
  metricsValues,
  MONITOR_VALUES,
  networkPolicyValues,
  podValues,
  RBAC_CREATE,
} from './shared-values.ts';

const FLAGS = MANAGER_PROGRAM.flags;
const ADDRESSES_DENIED = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128', '127.0.0.0/8', '::1/128'];

export const MANAGER_VALUES: ChartValue = group('', {
  ...headValues('managers'),
  rbac: group('', {
    create: RBAC_CREATE,
    aggregateClusterRoles: isOn(
      "Whoever has Kubernetes' own role view, edit or admin may look at Switchyard's kinds; edit and admin may also submit to SubmissionQueues.",
      true,
    ),
    aggregateAdmin: isOn(
      'Whether admin of a namespace may write LocalQueues and SubmissionQueues there: these give priorities and the use of other namespaces. Otherwise that takes the ClusterRole NAME-admin.',
      false,
    ),
  }),
  clusterSecrets: group('Where the Secrets with the kubeconfigs of worker clusters are.', {
    namespace: text(
      'A namespace of their own, which must exist: the managers may read Secrets there, and nowhere else but their own by name. Empty: that of the release.',
      '',
      { maxLength: 63, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$' },
    ),
  }),
  localWorker: group(
    "The manager's cluster may also be a worker: a WorkerCluster with `local: true`, and the chart switchyard-worker beside this one (with managerAccess.create=false). Lets the manager delete Jobs, which are its copies, and see the nodes.",
    {
      enabled: isOn('', false),
      users: texts(
        'The user that the worker runs as, such as system:serviceaccount:switchyard:switchyard-worker: nobody else writes the status of copies.',
        [],
        '^[^,]+$',
      ),
      leaseNamespace: text(
        'Namespace of the Leases by which the two know of each other, and of the ends of logs: config.leaseNamespace of the worker chart, spec.leaseNamespace of the WorkerCluster. The chart makes switchyard-system where it is missing, and no other.',
        'switchyard-system',
        { maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
      ),
    },
  ),
  crds: group('', {
    enabled: isOn(
      'Installs and upgrades the CustomResourceDefinitions with the release. Those that belong to another release are left to it.',
      true,
    ),
    keep: isOn('They survive `helm uninstall`: with a definition all of its objects would go.', true),
    install: Type.Unsafe({ type: 'boolean', description: 'What enabled was called before: false has the same effect.' }),
  }),
  kinds: texts(
    'Kinds of work beside Job that the manager takes, of those that the chart describes (files/kinds; docs/kinds.md): JobSet, RayJob, RayCluster, MPIJob, PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob, TrainJob, AppWrapper. Their CustomResourceDefinitions must be on the cluster, and Kueue with MultiKueue for the same kinds must not.',
    [],
    '^(JobSet|RayJob|RayCluster|MPIJob|PyTorchJob|TFJob|XGBoostJob|PaddleJob|JAXJob|TrainJob|AppWrapper)$',
  ),
  ownKinds: texts(
    'Kinds that you describe by WorkKinds of your own, as RESOURCE.GROUP (crews.example.com): the manager gets rights to their objects, its webhook prepares those with a queue label, and policies hold their marks (docs/kinds.md). For the kinds of `kinds` this is not needed.',
    [],
    '^[a-z0-9][-a-z0-9]*\\.[-a-z0-9.]+$',
  ),
  redis: group(
    'Redis carries submissions only; nothing that is already a Job depends on it. Without one the manager takes no submissions.',
    {
      url: text('redis://[user:password@]host:port[/db]. The chart puts it into a Secret, which the manager reads as a file.', '', {
        pattern: '^(rediss?://.+)?$',
      }),
      existingSecret: text("Instead: a Secret of the release's namespace whose key holds the URL."),
      existingSecretKey: text('The key of that Secret.', 'url', { minLength: 1 }),
      sentinels: flagValue(FLAGS, 'redis-sentinels', { default: [], about: 'Instead: HOST:PORT of sentinels, which know the master.' }),
      sentinelName: flagValue(FLAGS, 'redis-sentinel-name', { default: '' }),
      clusterNodes: flagValue(FLAGS, 'redis-cluster-nodes', {
        default: [],
        about:
          'Instead: HOST:PORT of some nodes of a Redis Cluster. Prefixes of keys then have a hash tag: that of config.redisPrefix is {bull} unless you name another.',
      }),
      username: flagValue(FLAGS, 'redis-username', { default: '' }),
      passwordSecret: text('A Secret with the password under the key `password`, where it does not stand in the URL.'),
      sentinelPasswordSecret: text('The same for the sentinels.'),
      tls: group('', {
        enabled: flagValue(FLAGS, 'redis-tls', { default: false }),
        serverName: flagValue(FLAGS, 'redis-tls-server-name', { default: '' }),
        existingSecret: text('A Secret with the authorities of its certificate (ca.crt).'),
        clientCertificate: isOn('Whether that Secret also has a certificate to show to Redis (tls.crt, tls.key).', false),
      }),
      evaluation: group('', {
        enabled: isOn(
          'Instead: runs a Redis in one pod, to try submissions out. It has no password, and forgets everything when its pod goes.',
          false,
        ),
        image: text('Redis or Valkey.', 'docker.io/valkey/valkey:8.1', { minLength: 1 }),
      }),
    },
  ),
  submissions: group('', {
    impersonate: texts(
      'Names of ServiceAccounts that SubmissionQueues may name, in whatever namespace: the manager may act as these, to create Jobs with no other rights than theirs. ["*"] is any, those of Kubernetes\' own controllers among them, which is all that an administrator may do. [] is none.',
      ['switchyard-submitter'],
      '^([*]|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$',
    ),
    attachments: isOn(
      'Whether submissions whose Jobs the manager creates with its own rights (config.submissionQueue, config.allowManagerIdentity) may bring ConfigMaps along: the manager may then create ConfigMaps in carry.namespaces. Other queues need that right for their ServiceAccount.',
      false,
    ),
  }),
  carry: group('', {
    namespaces: flagValue(FLAGS, 'carry-namespaces', {
      default: [],
      about:
        'Namespaces whose Jobs may take ConfigMaps and Secrets to their worker cluster (docs/carrying.md): in each of them, a Role lets the manager read both. They must exist. Empty: none.',
    }),
  }),
  config: group('Flags of the manager, by their names in camelCase.', {
    ...flagValues(FLAGS, {
      'manager-id': '',
      'log-level': 'info',
      'leader-elect-lease-duration': '3s',
      'kube-api-qps': 100,
      'kube-api-burst': 200,
      'submission-api-qps': 300,
      'submission-api-burst': 300,
      'worker-api-qps': 50,
      'worker-api-burst': 100,
      'worker-token-life': '24h',
      'worker-lost-timeout': '15m',
      'requeuing-timestamp': 'Eviction',
    }),
    workerAddressDeny: flagValue(FLAGS, 'worker-address-deny', {
      default: ADDRESSES_DENIED,
      about:
        "No worker cluster is connected to at these addresses, under whatever name: link-local ones, the metadata service of a cloud, and the manager's own pod.",
    }),
    ...flagValues(FLAGS, {
      'other-managers': [],
      'max-job-bytes': 262_144,
      'resource-claims': 'Refuse',
      'kueue-queue-label': false,
      'denied-namespaces': ['kube-*'],
    }),
    workerMemoryLimit: flagValue(FLAGS, 'worker-memory-limit', {
      default: 32,
      about:
        "MiB for what is kept of one worker cluster's Jobs and nodes; one that has more is not Ready. 32 is enough for ten thousand running Jobs.",
    }),
    fenceRenewInterval: flagValue(FLAGS, 'fence-renew-interval', {
      default: '10s',
      about:
        "How often each worker is shown that the manager is in reach. At most a third of the workers' config.fenceAfter (docs/fencing.md).",
    }),
    defaultPlacement: flagValue(FLAGS, 'default-placement', {
      default: 'LeastRoom',
      about:
        'Which cluster with room a Job goes to where its ClusterQueue has no placement: LeastRoom packs, MostRoom spreads (docs/packing.md).',
    }),
    fairSharing: group('How ClusterQueues share what their cohorts lend (docs/fair-sharing.md).', {
      enabled: flagValue(FLAGS, 'fair-sharing', {
        default: false,
        about: 'Whether by weights. Otherwise whoever comes first by priority and age borrows.',
      }),
      preemptionStrategies: flagValue(FLAGS, 'fair-sharing-preemption-strategies', {
        default: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'],
        about: 'When a Job may be preempted for that: one of these, or both in this order.',
      }),
    }),
    admissionFairSharing: group('How what LocalQueues have used orders their Jobs, in ClusterQueues that ask for it.', {
      halfLife: flagValue(FLAGS, 'admission-fair-sharing-half-life', {
        default: '',
        about: 'After this time what was used counts half, such as 168h. Empty: usage plays no part.',
      }),
      samplingInterval: flagValue(FLAGS, 'admission-fair-sharing-sampling-interval', { default: '5m' }),
      resourceWeights: flagValue(FLAGS, 'admission-fair-sharing-resource-weights', {
        default: {},
        about: 'What a core, a byte or a device counts, by resource; 1 for each that is not named. For example cpu: "1", memory: "1e-10".',
      }),
    }),
    decisionLog: flagValue(FLAGS, 'decision-log', {
      default: '',
      shape: { enum: ['-'] },
      about:
        '"-" writes what admission sees and decides to standard output, to decide it again with `switchyard replay` (docs/decision-log.md). Empty: it is not written.',
    }),
    auditLog: flagValue(FLAGS, 'audit-log', {
      default: '',
      shape: { enum: ['-'] },
      about:
        '"-" writes who did what over HTTP, the dashboard and the webhook to standard output (docs/audit.md). Empty: it is not written.',
    }),
    submissionQueue: flagValue(FLAGS, 'submission-queue', {
      default: '',
      about:
        "Name of the BullMQ queue that carries submissions of whoever can reach Redis, such as switchyard-submissions; their Jobs are created with the manager's rights. Empty: none but those of SubmissionQueues, each with a ServiceAccount of its own (docs/submissions.md).",
    }),
    submissionNamespaces: flagValue(FLAGS, 'submission-namespaces', {
      default: ['default'],
      about:
        'Namespaces for Jobs of that queue, the first for those that name none. The manager has the right to create Jobs in these alone, so they must exist. ["*"]: all but kube-*.',
    }),
    podFenceImage: flagValue(FLAGS, 'pod-fence-image', {
      default: '',
      about:
        'The image of the sidecar of pod fences (docs/fencing.md), with a program `node`; worker clusters pull it with what their nodes and Jobs have. Empty: the image of this chart.',
    }),
    ...flagValues(FLAGS, {
      'allow-manager-identity': false,
      'redis-prefix': undefined,
      'concurrent-submissions': undefined,
      'concurrent-dispatches': undefined,
      'story-event-qps': undefined,
      'metrics-local-queues-max': undefined,
      'otlp-endpoint': undefined,
      'trace-ratio': undefined,
      'trace-pods': false,
    }),
  }),
  history: group('What became of Jobs, exit codes and the ends of logs (docs/logs.md).', {
    enabled: isOn('', true),
    store: text(
      'redis://... or s3://BUCKET/PREFIX?endpoint=URL&region=NAME, which all replicas share and which outlives them. Empty: a volume of the pod.',
      '',
      { pattern: '^((rediss?|s3)://.+)?$' },
    ),
    storeSecret: text('A Secret with such a URL under the key `url`, instead: it may hold a password.'),
    credentialsSecret: text('A Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for s3://.'),
    existingClaim: text(
      'A PersistentVolumeClaim for the volume. Empty: an emptyDir, which goes with the pod. A volume is of one pod: with more replicas the next leader does not see what the one before has written, unless they share a claim that allows that (ReadWriteMany).',
    ),
    maxAge: flagValue(FLAGS, 'history-max-age', {
      default: '720h',
      about: 'How long after a Job has ended it is kept. What is beyond this age and maxSizeMiB goes, those that ended first.',
    }),
    maxSizeMiB: flagValue(FLAGS, 'history-max-size', { default: 512 }),
  }),
  canary: group('A tiny Job through every cluster, end to end, measured by stage (docs/slo.md).', {
    interval: flagValue(FLAGS, 'canary-interval', { default: '0s' }),
    queue: flagValue(FLAGS, 'canary-queue', {
      default: '',
      about:
        'NAMESPACE/NAME of a LocalQueue for these Jobs. They request nothing, and use quota only where it counts pods. With a queue, `helm test` sends one through every cluster, too.',
    }),
    image: flagValue(FLAGS, 'canary-image', { default: 'busybox:1.37' }),
    timeout: flagValue(FLAGS, 'canary-timeout', { default: '5m' }),
  }),
  webhook: group('', {
    failurePolicy: choice('Ignore lets Jobs through unprepared while no manager answers; Fail refuses them.', 'Fail', ['Fail', 'Ignore']),
    timeoutSeconds: wholeNumber('How long the API server waits for an answer.', 5, 1, 30),
    port: port('Of the pods; the Service has 443.', 9443),
    shutdownDelaySeconds: wholeNumber(
      'How long a pod that is to end goes on answering, not ready, until the API servers have heard of it. Part of terminationGracePeriodSeconds.',
      10,
      0,
      300,
    ),
    excludedNamespaces: texts('Namespaces whose Jobs the webhook never sees.', ['kube-system']),
    managedNamespaceSelector: kubernetesObject(
      'A label selector of Kubernetes for the namespaces whose Jobs, and objects of other kinds that the manager takes, are managed without a queue label: they go to the LocalQueue `default` of their namespace. Empty: none. Never the namespace of the release, `kube-*`, or those that are excluded or denied.',
    ),
    tls: group('', {
      existingSecret: text(
        "A kubernetes.io/tls Secret with the webhook's certificate. Empty: a Deployment NAME-certificates, with an account of its own, makes one, renews it and has the webhook configurations trust it (docs/security.md).",
      ),
      caBundle: text(
        'Base64 of the CA that signed the existing certificate. Empty: `ca.crt` of that Secret, if it is there by the time of the installation.',
      ),
      certManager: group('', { enabled: isOn('Lets cert-manager issue the certificate and inject the CA instead.', false) }),
      serviceAccountName: text(
        'A ServiceAccount that is there, for the Deployment that makes the certificate. Not that of the managers: it may patch the webhook configurations. Empty: the chart makes one.',
      ),
      resources: kubernetesObject('What the pod of that Deployment asks for, and the memory it may have.', {
        requests: { cpu: '10m', memory: '64Mi' },
        limits: { memory: '192Mi' },
      }),
    }),
  }),
  api: group(
    'The HTTP API for those with a token of this cluster (docs/http-api.md), over HTTPS at the port `api` of the Service: submissions, history, and what the command `switchyard` asks for users who may not list everything. Also makes a ClusterRole NAME-submitter: bound in a namespace, it lets submit to the SubmissionQueues there.',
    {
      enabled: isOn('', false),
      port: port('Of pods and Service.', 8443),
      discovery: group(
        'The ConfigMap kube-public/switchyard-manager, by which the command `switchyard` finds the API. All authenticated users may read it (a Role and RoleBinding in kube-public).',
        {
          enabled: isOn('', true),
          url: text(
            'The address at which users reach the API, such as that of an Ingress: https://switchyard.example. Empty: the Service, which only pods of this cluster reach.',
          ),
          caBundle: text(
            'The authorities that sign the certificate at that address, PEM. Empty: users have them already, or give --server-ca.',
          ),
        },
      ),
      tls: group('', {
        existingSecret: text(
          "A kubernetes.io/tls Secret. Empty: the webhook's certificate, which is that of NAME.NAMESPACE.svc; its Secret has the CAs, too (ca.crt).",
        ),
      }),
    },
  ),
  dashboard: group(
    'The page that shows the yard (docs/dashboard.md), over HTTPS for those with a token of this cluster, at the port `dashboard` of the Service. Not to be taken for dashboards, which are those of Grafana.',
    {
      enabled: isOn('', false),
      port: port('Of pods and Service.', 8444),
      tls: group('', {
        existingSecret: text("A kubernetes.io/tls Secret. Empty: the webhook's certificate, which is that of NAME.NAMESPACE.svc."),
      }),
      actions: flagValue(FLAGS, 'dashboard-actions', { default: false }),
      liveLogs: flagValue(FLAGS, 'dashboard-live-logs', { default: false }),
      traceUrl: flagValue(FLAGS, 'dashboard-trace-url', { default: '' }),
      proxies: flagValue(FLAGS, 'dashboard-proxies', { default: [] }),
      userHeader: flagValue(FLAGS, 'dashboard-user-header', { default: '' }),
      groupsHeader: flagValue(FLAGS, 'dashboard-groups-header', { default: '' }),
      externalUrl: flagValue(FLAGS, 'dashboard-external-url', { default: '' }),
      oidc: group('Sign-in at an OpenID provider (docs/dashboard.md).', {
        issuerUrl: flagValue(FLAGS, 'dashboard-oidc-issuer-url', { default: '' }),
        name: flagValue(FLAGS, 'dashboard-oidc-name', { default: '' }),
        clientId: flagValue(FLAGS, 'dashboard-oidc-client-id', { default: '' }),
        clientSecret: text('A Secret with the client secret under the key `client-secret`. Empty: a public client.'),
        caSecret: text('A Secret with the authorities of the issuer (ca.crt). Empty: the usual ones.'),
        scopes: flagValue(FLAGS, 'dashboard-oidc-scopes', { default: [] }),
        tokenReview: flagValue(FLAGS, 'dashboard-oidc-token-review', { default: false }),
        usernameClaim: flagValue(FLAGS, 'dashboard-oidc-username-claim', { default: '' }),
        usernamePrefix: flagValue(FLAGS, 'dashboard-oidc-username-prefix', { default: '' }),
        groupsClaim: flagValue(FLAGS, 'dashboard-oidc-groups-claim', { default: '' }),
        groupsPrefix: flagValue(FLAGS, 'dashboard-oidc-groups-prefix', { default: '' }),
      }),
    },
  ),
  admissionPolicy: group('', {
    enabled: isOn(
      'ValidatingAdmissionPolicies that hold the rules of who may write what (docs/security.md) while no manager answers. They are made where the API server offers them (Kubernetes 1.30 and later); `helm template` needs to be told: --api-versions admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy',
      true,
    ),
  }),
  metrics: metricsValues(
    flagValue(FLAGS, 'metrics-authentication', { default: true, about: METRICS_AUTHENTICATION }),
    "Empty: the webhook's certificate, where NAME-certificates makes that.",
  ),
  ...prometheusRuleValues('manager'),
  ...DASHBOARD_VALUES,
  ...MONITOR_VALUES,
  ...networkPolicyValues('The API servers of this cluster and of the worker clusters.', {
    webhook: group('', {
      from: peers(
        'API servers, which are no pods: no selector finds them, and only you know their addresses, which go here as ipBlock. The port takes reviews over HTTPS, and nothing else.',
        'anywhere',
        1,
      ),
    }),
    api: group('', {
      from: peers('Who submits over HTTPS: pods of this cluster, an Ingress among them. Addresses outside go here as ipBlock.', ANY_POD),
    }),
    dashboard: group('', {
      from: peers(
        'Who looks at the dashboard: pods of this cluster, an Ingress among them. Addresses outside go here as ipBlock.',
        ANY_POD,
      ),
    }),
    oidc: group('', { to: peers('Where the OpenID provider is, at the port of dashboard.oidc.issuerUrl.', 'anywhere', 1) }),
    redis: group('', {
      ports: ports('Beside those that redis.url, redis.sentinels and redis.clusterNodes name.', [6379]),
      to: peers('Where Redis is.', 'anywhere', 1),
    }),
    history: group('', {
      ports: ports('Those of the store that history.storeSecret names; history.store names its own.', [443, 6379]),
      to: peers('Where the store of history is.', 'anywhere', 1),
    }),
  }),
  ...podValues('256Mi', 40),
  preStopSleepSeconds: wholeNumber(
    'A pod that is to end hears of it only after so long, beside webhook.shutdownDelaySeconds. 0: at once.',
    0,
  ),
});
