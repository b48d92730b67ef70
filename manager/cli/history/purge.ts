import { FlagError, oneOf, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { HISTORY_STORE_FLAG } from '../history-store-flag.ts';
import { timeMs } from '../time-flag.ts';

const FLAGS = {
  ...HISTORY_STORE_FLAG,
  namespace: { short: 'n', value: 'NAME', about: 'only Jobs of this namespace, and of all that had its name before', parse: text },
  user: { value: 'USER', about: 'only Jobs that this user created, or submitted over HTTP, as the API server names the user', parse: text },
  before: {
    value: 'TIME',
    about: 'only Jobs that ended before: 2026-01-31 (its beginning in UTC), or 2026-01-31T12:00:00Z',
    parse: timeMs,
  },
  ...CLUSTER_FLAGS,
  'audit-log': {
    value: 'FILE',
    about:
      'appends a line of JSON: who erased what (docs/audit.md), by the user of the kubeconfig; if its API server does not answer, nothing is erased',
    parse: text,
  },
  'dry-run': { about: 'count what would be erased, and erase nothing' },
  yes: { short: 'y', about: 'do not ask' },
  output: { short: 'o', value: 'FORM', fallback: 'text', about: 'text, json, yaml', parse: oneOf(['text', 'json', 'yaml'] as const) },
} satisfies FlagTable;

export const HISTORY_PURGE = command({
  words: 'history purge',
  summary: 'erase the history of Jobs of a namespace or user, or from before a time',
  about:
    'Erases records, exit codes of pods and the ends of logs from the store of the manager (its flag --history-store), whether or not the manager runs. Several conditions must all match. The matches are counted and confirmed first. Writes the store itself, with your own rights. ' +
    'A Job that is still on the manager cluster is recorded again when another manager takes over: delete it first.',
  flags: FLAGS,
  examples: ['history purge --namespace team --dry-run', 'history purge --user oidc:ann --yes --audit-log purges.log'],
  configOf(values) {
    const { 'history-store': store, namespace, user, before } = values;
    if (store === undefined) throw new FlagError('--history-store: is missing; write what the manager was given there');
    if (namespace === undefined && user === undefined && before === undefined)
      throw new FlagError('--namespace: nothing says what to erase; write --namespace, --user or --before');
    return { ...values, store };
  },
  load: async () => (await import('./run-purge.ts')).runHistoryPurge,
});
