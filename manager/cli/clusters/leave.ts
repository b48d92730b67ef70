import { durationMs, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...FORM_FLAG,
  'worker-context': {
    value: 'CONTEXT',
    about: 'context of the cluster: the account of the manager there is deleted, too, with its rights of --carry-namespaces',
    parse: text,
  },
  'worker-kubeconfig': { value: 'FILE', about: 'kubeconfig that has it; default: the same', parse: text },
  'account-namespace': { value: 'NAME', fallback: 'switchyard', about: 'namespace there of that account', parse: text },
  timeout: {
    value: 'DURATION',
    fallback: '0s',
    about: 'give up waiting after so long; the cluster goes on leaving. 0s: never',
    parse: durationMs,
  },
  yes: { short: 'y', about: 'do not ask' },
} satisfies FlagTable;

export const LEAVE = command({
  words: 'clusters leave',
  summary: 'have a worker cluster leave: its Jobs move, then it is forgotten',
  about:
    'Deletes the WorkerCluster, which is drained first, waits until no Job names it, and deletes the Secret with its kubeconfig; until then the manager needs that. ' +
    'Interrupted, it goes on leaving, and the same command goes on waiting.',
  operands: [{ usage: '<CLUSTER>', about: 'name of a WorkerCluster' }],
  flags: FLAGS,
  examples: ['clusters leave east', 'clusters leave east --worker-context east --yes'],
  configOf: (values, [name = '']) => ({ ...values, name }),
  load: async () => (await import('./leave-cluster.ts')).runLeave,
});
