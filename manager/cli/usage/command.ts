import { FlagError, oneOf, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { HISTORY_STORE_FLAG } from '../history-store-flag.ts';
import { NO_SERVER, SERVER_FLAGS } from '../server/flags.ts';
import { timeMs } from '../time-flag.ts';

const FLAGS = {
  by: {
    value: 'WHOM',
    fallback: 'user',
    about: 'user, namespace, queue (ClusterQueue) or cluster',
    parse: oneOf(['user', 'namespace', 'queue', 'cluster'] as const),
  },
  from: {
    value: 'TIME',
    about: 'beginning of the period: 2026-01-31 (its beginning in UTC), or 2026-01-31T12:00:00Z; default: 30 days before its end',
    parse: timeMs,
  },
  to: { value: 'TIME', about: 'its end, in the same way; default: now', parse: timeMs },
  ...HISTORY_STORE_FLAG,
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SERVER_FLAGS,
  output: {
    short: 'o',
    value: 'FORM',
    fallback: 'table',
    about: 'table, csv, json, yaml',
    parse: oneOf(['table', 'csv', 'json', 'yaml'] as const),
  },
} satisfies FlagTable;

export const REPORT = command({
  words: 'report',
  summary: 'sum up what Jobs used in a period, by user, namespace, queue or cluster',
  about:
    'Sums up the history of ended Jobs: the hours for which they were admitted in the period, and hours of a core, a GiB, a pod or a device (docs/logs.md). ' +
    'With --history-store it reads the store itself, with your rights there; of a kubeconfig, only the namespace is used. Without it, it asks the manager (--server), ' +
    'which shows the Jobs of one namespace to users who may list Jobs there.',
  flags: FLAGS,
  examples: ['report -n team', 'report --by queue -A --from 2026-11-01 --to 2026-12-01 -o csv'],
  configOf(values) {
    // A manager that is named is asked, whatever a variable says of the store.
    const store = values.server === undefined || values.server === NO_SERVER ? values['history-store'] : undefined;
    if (store === undefined && values.server === NO_SERVER)
      throw new FlagError('--history-store: is missing; write what the manager was given there');
    if (values['all-namespaces'] && values.namespace !== undefined)
      throw new FlagError('--all-namespaces and --namespace contradict each other; write one of them');
    if (values.from !== undefined && values.to !== undefined && values.from >= values.to)
      throw new FlagError('--to: must be later than --from');
    return { ...values, store };
  },
  load: async () => (await import('./run.ts')).runReport,
});
