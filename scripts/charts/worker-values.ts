/** The values of the chart switchyard-worker. */
import { WORKER_PROGRAM } from '../../worker/config.ts';
import { flagValue, flagValues, group, isOn, text, texts, type ChartValue } from './chart-value.ts';
import { prometheusRuleValues } from './monitoring-values.ts';
import {
  headValues,
  METRICS_AUTHENTICATION,
  metricsValues,
  MONITOR_VALUES,
  networkPolicyValues,
  podValues,
  RBAC_CREATE,
} from './shared-values.ts';

const FLAGS = WORKER_PROGRAM.flags;

export const WORKER_VALUES: ChartValue = group('', {
  ...headValues('workers'),
  rbac: group('', {
    create: RBAC_CREATE,
    kinds: texts(
      'Kinds of work beside Job, as RESOURCE.GROUP, whose copies the worker stops when their manager is out of reach (docs/kinds.md). Those of managerAccess.kinds are among them.',
      [],
      '^[a-z0-9][-a-z0-9]*\\.[-a-z0-9.]+$',
    ),
  }),
  carry: group('', {
    namespaces: texts(
      'Namespaces of this cluster to which Jobs may bring ConfigMaps and Secrets (docs/carrying.md): in each of them, a Role lets the manager create both. They must exist. Empty: none.',
      [],
      '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
    ),
  }),
  managerAccess: group(
    'What the manager uses to create, watch and delete its copies on this cluster, and to keep its Lease in config.leaseNamespace.',
    {
      create: isOn('', true),
      tokenSecret: isOn(
        'Also makes a token Secret for the account that never ends. Without it a token is issued with `kubectl create token`, and renewed by the manager (docs/joining.md).',
        false,
      ),
      namespaces: texts(
        'Namespaces of this cluster in which the manager may work on Jobs; they must exist. Name the same ones as spec.servedNamespaces of the WorkerCluster. Empty: those of config.namespaces, and all where there are none either.',
        [],
        '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      ),
      createNamespaces: isOn('Whether it may create namespaces, as a WorkerCluster with `namespaces: Create` asks for.', false),
      kinds: texts(
        'Kinds of work beside Job whose copies it may make here, as RESOURCE.GROUP: jobsets.jobset.x-k8s.io. Their CustomResourceDefinitions and operators must be on the cluster.',
        [],
        '^[a-z0-9][-a-z0-9]*\\.[-a-z0-9.]+$',
      ),
      nodes: isOn('Whether it may list nodes, to know what they offer. Without this, give spec.capacity in the WorkerCluster.', true),
      startTroubles: isOn(
        'Whether it may list events, to tell a Job that does not start why not (a quota, a webhook). Without this only what its pods say is told.',
        true,
      ),
      logs: isOn(
        'Whether it may read the ends of logs that the worker keeps of copies (ConfigMaps in config.leaseNamespace), to keep them when the copies go. Without this exit codes are kept, and no logs.',
        true,
      ),
      liveLogs: isOn(
        'Whether it may read the logs of pods that run, for viewers of its dashboard (`dashboard.liveLogs` of its chart): the logs of all pods in the namespaces where it may work.',
        false,
      ),
    },
  ),
  accountPolicies: group('', {
    enabled: isOn(
      'ValidatingAdmissionPolicies that hold the account of the worker to pods of Jobs, and that of the manager to copies (docs/security.md). They are made where the API server offers them (Kubernetes 1.30 and later); `helm template` needs to be told: --api-versions admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy',
      true,
    ),
  }),
  config: group('Flags of the worker, by their names in camelCase.', {
    controllerName: flagValue(FLAGS, 'controller-name', {
      default: 'switchyard.dev/worker',
      about:
        'spec.managedBy of the Jobs this controller runs. kubernetes.io/job-controller replaces the built-in controller, which must then be switched off (kube-controller-manager --controllers=*,-job-controller).',
    }),
    controllers: flagValue(FLAGS, 'controllers', {
      default: ['job'],
      about: 'job, ttl-after-finished. The latter only where the built-in TTL controller does not run.',
    }),
    ...flagValues(FLAGS, { 'concurrent-job-syncs': 5 }),
    namespaces: flagValue(FLAGS, 'namespace', {
      default: [],
      shape: { type: 'array', uniqueItems: true, items: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' } },
      about:
        'Namespaces of this cluster in which the worker runs Jobs, by a Role in each instead of a ClusterRole (flag --namespace); they must exist. Name the same ones as spec.servedNamespaces of the WorkerCluster. Empty: all namespaces.',
    }),
    deniedNamespaces: flagValue(FLAGS, 'denied-namespaces', {
      default: ['kube-*'],
      about:
        'No pods are created for Jobs of these namespaces: names, or beginnings of names and *. Empty: none is denied. No part of a worker that replaces the built-in Job controller.',
    }),
    fenceAfter: flagValue(FLAGS, 'fence-after', {
      default: '60s',
      about:
        "Stop the pods of copies whose manager has given no sign for this long, until it is back (docs/fencing.md); 0: never. At least 5s, and three times the manager's --fence-renew-interval.",
    }),
    leaseNamespace: flagValue(FLAGS, 'lease-namespace', {
      default: 'switchyard-system',
      shape: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
      about:
        'Namespace of the Leases by which worker and managers know of each other, and of the ends of logs: spec.leaseNamespace of the WorkerCluster. The chart makes switchyard-system where it is missing, and no other; `helm uninstall` leaves it.',
    }),
    formerLeaseNamespace: text(
      'Where managers of an earlier release look for those Leases: they are kept there as well, and ends of logs beside copies. auto: kube-system, while a Lease there is newer than the one in config.leaseNamespace; Helm looks that up in the cluster. What renders without one (helm template, Argo CD) says kube-system until the managers are upgraded (docs/fencing.md#upgrading-from-kube-system). Empty: nowhere.',
      'auto',
      { maxLength: 63, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$' },
    ),
    keepLogs: flagValue(FLAGS, 'keep-logs', {
      default: 'Failed',
      about:
        'Of which pods of copies the end of the log is kept when they go, where their Job does not say: Failed, All, or None (of none, whatever Jobs say; the worker then has no right to read logs and to make ConfigMaps).',
    }),
    ...flagValues(FLAGS, {
      'log-tail-bytes': 65_536,
      'kube-api-qps': 50,
      'kube-api-burst': 100,
      'log-level': 'info',
      'leader-elect-lease-duration': '3s',
      'concurrent-ttl-after-finished-syncs': undefined,
      'job-batch-period': undefined,
      'otlp-endpoint': undefined,
    }),
  }),
  metrics: metricsValues(flagValue(FLAGS, 'metrics-authentication', { default: true, about: METRICS_AUTHENTICATION }), 'Required then.'),
  ...prometheusRuleValues('worker'),
  ...MONITOR_VALUES,
  ...networkPolicyValues('The API server of this cluster.'),
  ...podValues('192Mi', 30),
});

/** Flags that are no value of the chart, and why. */
export const WORKER_FLAGS_OF_CHART: Readonly<Partial<Record<keyof typeof FLAGS, string>>> = {
  config: 'config.* are its keys, and are passed as flags; a file of one’s own comes by extraArgs and a volume',
  kubeconfig: 'the pod’s ServiceAccount',
  context: 'the pod’s ServiceAccount',
  'former-lease-namespace': 'config.formerLeaseNamespace, which may be looked up',
  'leader-elect': 'always on',
  'leader-elect-resource-namespace': 'the namespace of the release',
  'leader-elect-resource-name': 'by the name of the release',
  'metrics-bind-address': 'metrics.port',
  'metrics-cert-file': 'metrics.tls',
  'metrics-key-file': 'metrics.tls',
};
