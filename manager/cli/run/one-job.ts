import { KEEP_LOGS_LABEL, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import type { JobManifest } from '../../policy/prepare-job.ts';

export type OneJob = {
  readonly namespace: string;
  readonly queue: string;
  readonly image: string;
  /** Empty: what the image runs. */
  readonly words: readonly string[];
  readonly name: string | undefined;
  readonly requests: Readonly<Record<string, string>> | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly pods: number;
};

/**
 * A Job of one container that fails with the first pod that fails, and then says with which exit code: upstream puts it into the message of
 * a failure by a rule of exit codes, and nowhere else into a Job.
 */
export function oneJob({ namespace, queue, image, words, name, requests, env, pods }: OneJob): JobManifest {
  const container = {
    name: 'main',
    image,
    ...(words.length === 0 ? {} : { command: [...words] }),
    ...(requests === undefined ? {} : { resources: { requests: { ...requests } } }),
    ...(env === undefined ? {} : { env: Object.entries(env).map(([key, value]) => ({ name: key, value })) }),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    // Whoever runs a command wants to see what it writes, also where nobody could read it in time.
    metadata: {
      namespace,
      labels: { [QUEUE_NAME_LABEL]: queue, [KEEP_LOGS_LABEL]: 'All' },
      ...(name === undefined ? { generateName: 'run-' } : { name }),
    },
    spec: {
      parallelism: pods,
      completions: pods,
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0] } }] },
      template: { spec: { restartPolicy: 'Never', containers: [container] } },
    },
  };
}
