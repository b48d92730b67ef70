import { durationMs, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...FORM_FLAG,
  queue: { short: 'q', value: 'NAME', about: 'LocalQueue of the Jobs; default: the only one of the namespace', parse: text },
  image: { value: 'IMAGE', fallback: 'busybox:1.37', about: 'their image, with a program `true`', parse: text },
  timeout: { value: 'DURATION', fallback: '5m', about: 'Jobs that have not finished by then have failed', parse: durationMs },
} satisfies FlagTable;

export const CANARY = command({
  words: 'canary',
  summary: 'send a tiny Job through every cluster, and report the result',
  about:
    'Sends one Job that does nothing to each WorkerCluster that is ready, the whole way from admission to its outcome. Exits with 0 if all complete. ' +
    'The Jobs are deleted afterwards, also on Ctrl-C. Clusters that take no Jobs now are skipped; if none takes Jobs, or one that you ' +
    'name does not, the command fails. `helm test` does the same.',
  operands: [{ usage: '[CLUSTER...]', about: 'only these' }],
  flags: FLAGS,
  examples: ['canary -n team', 'canary east west -n team -q main --timeout 1m'],
  configOf: (values, clusters) => ({ ...values, clusters }),
  load: async () => (await import('./run.ts')).runCanary,
});
