import path from 'node:path';
import type { LocalClusters } from './clusters.ts';
import { JOB_SET_EXAMPLE } from './examples.ts';
import type { RunningPrograms } from './programs.ts';
import { shortPath } from './short-path.ts';

export type AdviceInput = {
  readonly clusters: LocalClusters;
  readonly programs: RunningPrograms;
  readonly directory: string;
  /** Folder of the examples' manifests. */
  readonly examples: string;
  /** JobSets are dispatched. */
  readonly kinds: boolean;
  /** Sources run, as in a checkout, and no command of a package is on the PATH. */
  readonly isCheckout: boolean;
};

/** What a user can do next with everything up: `--keep` prints this. Every command works as it is pasted, in the order of the lines. */
export function keepAdvice({ clusters, programs, directory, examples, kinds, isCheckout }: AdviceInput): string[] {
  const { manager, workers, kubeconfigFile } = clusters;
  const example = (file: string): string => shellWord(shortPath(path.join(examples, file)));
  return [
    '',
    'Everything stays up until Ctrl-C.',
    ...[manager, ...workers].map(({ name, url }) => `  ${name.padEnd(8)} ${url}`),
    `  redis    ${programs.redisUrl}`,
    ...[...programs.metricsUrls].map(([name, url]) => `  ${name.padEnd(25)} ${url}`),
    `  kubeconfigs and logs are in ${shortPath(directory)}`,
    '  Jobs switchyard-canary-... are the manager’s: once a minute it tries each cluster',
    'Try in another terminal, in this directory:',
    ...(isCheckout ? [`  alias switchyard='npm run -s switchyard --'`] : []),
    `  export KUBECONFIG=${shellWord(shortPath(kubeconfigFile))} SWITCHYARD_HISTORY_STORE=${shellWord(shortPath(programs.historyStore))}`,
    `  switchyard run --queue batch --image busybox -- sh -c 'for n in 1 2 3; do echo "hello, $n"; sleep 1; done'`,
    '  switchyard logs pi',
    '  switchyard explain waiting',
    '  switchyard get jobs',
    '  switchyard get clusters',
    '  switchyard doctor',
    '  kubectl get jobs -L switchyard.dev/cluster',
    '  kubectl get workerclusters,clusterqueues,localqueues -A',
    '  kubectl describe job waiting',
    `  kubectl delete job pi --cascade=background; kubectl create -f ${example('pi.yaml')}; kubectl get jobs -w`,
    `  kubectl create -f ${example('every-minute.yaml')}; kubectl get cronjobs,jobs`,
    ...(kinds
      ? [
          '  kubectl get jobsets -L switchyard.dev/cluster',
          `  kubectl delete jobset ${JOB_SET_EXAMPLE.name}; kubectl create -f ${example(JOB_SET_EXAMPLE.file)}; kubectl get jobsets -w`,
        ]
      : []),
    ...workers.slice(0, 1).map(({ name }) => `  kubectl --context ${name} get jobs,pods`),
  ];
}

/** For a POSIX shell. */
const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
