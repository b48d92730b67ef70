import type { LocalCluster } from './clusters.ts';
import type { RunningPrograms } from './programs.ts';
import { shortPath } from './short-path.ts';

export type AdviceInput = {
  readonly manager: LocalCluster;
  readonly workers: readonly LocalCluster[];
  readonly programs: RunningPrograms;
  readonly directory: string;
};

/** What a user can do next with everything up: `--keep` prints this. */
export function keepAdvice({ manager, workers, programs, directory }: AdviceInput): string[] {
  return [
    '',
    'Everything stays up until Ctrl-C.',
    ...[manager, ...workers].map(({ name, url }) => `  ${name.padEnd(8)} ${url}`),
    `  redis    ${programs.redisUrl}`,
    ...[...programs.metricsUrls].map(([name, url]) => `  ${name.padEnd(25)} ${url}`),
    `  kubeconfigs and logs are in ${shortPath(directory)}`,
    'Try in another terminal, in this directory:',
    `  export KUBECONFIG=${shortPath(manager.kubeconfigFile)}`,
    '  kubectl get jobs',
    '  kubectl get workerclusters,clusterqueues,localqueues -A',
    '  kubectl describe job waiting',
    '  kubectl delete job pi --cascade=background',
    '  kubectl create -f examples/pi.yaml; kubectl get jobs -w',
    '  kubectl create -f examples/every-minute.yaml; kubectl get cronjobs,jobs',
    ...workers.slice(0, 1).map(({ kubeconfigFile }) => `  kubectl --kubeconfig ${shortPath(kubeconfigFile)} get jobs,pods`),
  ];
}
