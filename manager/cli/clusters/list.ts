import type { FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, LISTING_FLAGS, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...SELECTOR_FLAG,
  ...LISTING_FLAGS,
  ...SERVER_FLAGS,
} satisfies FlagTable;

export const CLUSTERS = command({
  words: 'clusters',
  summary: 'list worker clusters, or manage them',
  about:
    'The same as get clusters. Users who may not list WorkerClusters see their names and states, through the manager (--server). The subcommands add and remove clusters, and set whether they take Jobs.',
  flags: FLAGS,
  examples: ['clusters', 'clusters -o wide'],
  configOf(values) {
    const wanted = [{ word: 'clusters', names: [] }];
    return { ...values, wanted, namespace: undefined, 'all-namespaces': false, state: undefined, column: undefined };
  },
  load: async () => (await import('./run.ts')).runClusters,
});
