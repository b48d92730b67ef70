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
    about: 'stop waiting after this time; the removal continues. 0s: never',
    parse: durationMs,
  },
  yes: { short: 'y', about: 'do not ask' },
} satisfies FlagTable;

export const LEAVE = command({
  words: 'clusters leave',
  summary: 'remove a worker cluster: its Jobs move to other clusters first',
  about:
    'Deletes the WorkerCluster, which drains it, waits until no Job names it, and deletes the Secret with its kubeconfig, which ' +
    'the manager needs until then. If the command is interrupted, the removal continues, and the same command waits for it again.',
  operands: [{ usage: '<CLUSTER>', about: 'name of a WorkerCluster' }],
  flags: FLAGS,
  examples: ['clusters leave east', 'clusters leave east --worker-context east --yes'],
  configOf: (values, [name = '']) => ({ ...values, name }),
  load: async () => (await import('./leave-cluster.ts')).runLeave,
});
