import type { LocalCluster } from './clusters.ts';
import type { RunningPrograms } from './programs.ts';

export type AdviceInput = {
  readonly manager: LocalCluster;
  readonly workers: readonly LocalCluster[];
  readonly programs: RunningPrograms;
  readonly directory: string;
};

/** What a user can do next with everything up: `--keep` prints this. */
export function keepAdvice({ manager, workers, programs, directory }: AdviceInput): string[] {
  const kubectl = `kubectl --kubeconfig ${manager.kubeconfigFile}`;
  return [
    '',
    'Everything stays up until Ctrl-C.',
    ...[manager, ...workers].map(({ name, url, kubeconfigFile }) => `  ${name.padEnd(8)} ${url}  kubeconfig ${kubeconfigFile}`),
    `  redis    ${programs.redisUrl}`,
    ...[...programs.metricsUrls].map(([name, url]) => `  ${name}: ${url}`),
    `  logs     ${directory}/*.log`,
    'Try:',
    `  ${kubectl} get jobs`,
    `  ${kubectl} get workerclusters,clusterqueues,localqueues -A`,
    `  ${kubectl} describe job waiting`,
    `  ${kubectl} delete job pi --cascade=background; ${kubectl} create -f examples/pi.yaml; ${kubectl} get jobs -w`,
    ...workers.slice(0, 1).map(({ kubeconfigFile }) => `  kubectl --kubeconfig ${kubeconfigFile} get jobs,pods`),
  ];
}
