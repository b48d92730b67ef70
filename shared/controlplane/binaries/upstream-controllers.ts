import type { ControlPlaneController } from '../controllers/controllers.ts';

/** Those of kube-controller-manager that do what ours do beside the embedded API. Undefined: it has none that does, as it is no kubelet. */
const UPSTREAM: Readonly<Record<ControlPlaneController, string | undefined>> = {
  'garbage-collector': 'garbage-collector-controller',
  namespace: 'namespace-controller',
  'pod-gc': 'pod-garbage-collector-controller',
  'taint-eviction': 'taint-eviction-controller',
  'cron-job': 'cronjob-controller',
  deployment: 'deployment-controller',
  'replica-set': 'replicaset-controller',
  'node-agent': undefined,
};

/** Which of these kube-controller-manager runs, by upstream's names, and which are left to ours. */
export const divideControllers = (
  names: readonly ControlPlaneController[],
): { readonly upstream: readonly string[]; readonly ours: readonly ControlPlaneController[] } => ({
  upstream: names.flatMap((name) => UPSTREAM[name] ?? []),
  ours: names.filter((name) => UPSTREAM[name] === undefined),
});
