import { FlagError, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';
import type { Grouping } from './usage-table.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...SELECTOR_FLAG,
  ...FORM_FLAG,
  ...SERVER_FLAGS,
  by: { value: 'WHOM', fallback: 'queue', about: 'queue, cluster, namespace, user, or label:KEY', parse: grouping },
} satisfies FlagTable;

export const TOP = command({
  words: 'top',
  summary: 'show current usage',
  about:
    'Sums up the quota that admitted Jobs and objects of other kinds hold, the largest first, and counts those that wait. The user created the Job ' +
    'or submitted it over HTTP. Costs one LIST of each kind, of WorkKinds and LocalQueues. Users who may not list Jobs in all namespaces see, through ' +
    'the manager (--server), what their LocalQueues and the whole ClusterQueue use, as YOURS/ALL; by cluster, namespace, user or label the Jobs of one ' +
    'namespace.',
  flags: FLAGS,
  examples: ['top', 'top --by user', 'top --by cluster -n team', 'top --by label:project -o json'],
  configOf: (values) => values,
  load: async () => (await import('./run.ts')).runTop,
});

function grouping(given: string): Grouping {
  if (given === 'queue' || given === 'cluster' || given === 'namespace' || given === 'user') return { kind: given };
  const key = /^label:(.+)$/.exec(given)?.[1];
  if (key === undefined) throw new FlagError(`${JSON.stringify(given)} is unknown; choose from queue, cluster, namespace, user, label:KEY`);
  return { kind: 'label', key: text(key) };
}
