import { durationMs, FlagError, text, wholeNumber, type FlagTable } from '../../../shared/runtime/flags.ts';
import { parseQuantity, QuantityError } from '../../../shared/kube/quantity.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG, WORKER_CLUSTER_FLAGS } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { HISTORY_STORE_FLAG } from '../history-store-flag.ts';
import { SERVER_FLAGS } from '../server/flags.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  image: { value: 'IMAGE', about: 'image of the container', parse: text },
  queue: { short: 'q', value: 'NAME', about: 'LocalQueue; default: the only one of the namespace', parse: text },
  name: { value: 'NAME', about: 'name of the Job; default: run- and a unique suffix', parse: text },
  requests: { value: 'LIST', about: 'what each pod asks for: cpu=1,memory=2Gi', parse: requests },
  env: { value: 'LIST', about: 'environment variables: A=1,B=2', parse: pairs },
  pods: { value: 'COUNT', fallback: '1', about: 'number of pods, all of which must succeed', parse: wholeNumber(1, 100_000) },
  timeout: { value: 'DURATION', fallback: '0s', about: 'stop waiting after this time; the Job continues. 0s: never', parse: durationMs },
  rm: { about: 'delete the Job at the end, and when it is interrupted' },
  quiet: { about: 'show no logs' },
  ...WORKER_CLUSTER_FLAGS,
  ...HISTORY_STORE_FLAG,
  ...SERVER_FLAGS,
  ...FORM_FLAG,
} satisfies FlagTable;

export const RUN = command({
  words: 'run',
  summary: 'run a command as a Job, and exit with its exit code',
  about:
    'Creates a Job of one container, prints what its pods write (as `switchyard logs` does), and exits with the exit code of the container. With -o json or yaml ' +
    'the logs go to standard error. The Job fails with the first container that fails (podFailurePolicy). Ctrl-C detaches from the Job, which continues; with --rm ' +
    'it is deleted.',
  operands: [{ usage: '[CMD...]', about: 'after --: the command and its arguments; default: those of the image' }],
  flags: FLAGS,
  exitCodes: { N: 'the exit code of the container that failed', 1: 'the Job failed without one, or was deleted' },
  examples: ['run --image busybox -- sh -c "exit 3"', 'run --image trainer:7 --requests cpu=4,memory=8Gi --rm -- train'],
  configOf({ image, ...values }, words) {
    if (image === undefined) throw new FlagError('--image: no image is named; write --image IMAGE');
    return { ...values, image, words };
  },
  load: async () => (await import('./run.ts')).runRun,
});

function requests(given: string): Readonly<Record<string, string>> {
  const amounts = pairs(given);
  for (const [resource, amount] of Object.entries(amounts)) {
    try {
      parseQuantity(amount);
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      throw new FlagError(`${resource}: ${JSON.stringify(amount)} is no quantity; write such as cpu=500m,memory=2Gi`, { cause: error });
    }
  }
  return amounts;
}

function pairs(given: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text(given)
      .split(',')
      .map((pair) => {
        const [, key, value] = /^([^=]+)=([^]*)$/.exec(pair) ?? [];
        if (key === undefined || value === undefined)
          throw new FlagError(`${JSON.stringify(pair)} is no pair; write KEY=VALUE, separated by commas`);
        return [key, value] as const;
      }),
  );
}
