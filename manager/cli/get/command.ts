import { FlagError, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, LISTING_FLAGS, NAMESPACE_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { KIND_WORDS, kindView } from './kinds.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SELECTOR_FLAG,
  ...LISTING_FLAGS,
} satisfies FlagTable;

export const GET = command({
  words: 'get',
  summary: 'list Jobs, queues or clusters',
  about:
    'Jobs are those that Switchyard runs, with where they are and how far they have come; queues are LocalQueues; clusters are WorkerClusters. ' +
    'Costs one LIST, and a WATCH with -w.',
  operands: [
    { usage: '<KIND>', about: 'jobs, queues or clusters', choices: KIND_WORDS },
    { usage: '[NAME...]', about: 'only these' },
  ],
  flags: FLAGS,
  examples: ['get jobs', 'get jobs -A -o wide', 'get jobs -l team=ml -w', 'get clusters east -o yaml'],
  configOf(values, [word = '', ...names]) {
    const view = kindView(word);
    if (view === undefined) throw new FlagError(`KIND: there is no ${JSON.stringify(word)}; write jobs, queues or clusters`);
    if (names.length > 0 && values.selector !== undefined) throw new FlagError('--selector: names were given, too; write one of them');
    if (values['all-namespaces'] && values.namespace !== undefined && view.resource.namespaced)
      throw new FlagError('--all-namespaces and --namespace contradict each other; write one of them');
    if (names.length > 0 && values['all-namespaces'] && view.resource.namespaced)
      throw new FlagError('--all-namespaces: a name needs its namespace; write --namespace NAME');
    return { ...values, view, names };
  },
  load: async () => (await import('./run.ts')).runGet,
});
