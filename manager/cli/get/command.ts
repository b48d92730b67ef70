import { FlagError, text, wordsOf, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, LISTING_FLAGS, NAMESPACE_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { KIND_WORDS, kindView } from './kinds.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SELECTOR_FLAG,
  ...LISTING_FLAGS,
  state: { value: 'STATE,...', about: 'only those whose column STATE is one of these, such as Waiting,Held', parse: wordsOf },
  'sort-by': {
    value: 'COLUMN',
    about: 'the head of a column, such as age or cluster',
    parse: text,
  },
} satisfies FlagTable;

export const GET = command({
  words: 'get',
  summary: 'list Jobs, queues or clusters',
  about:
    'Jobs are those that Switchyard runs, with where they are, how far they have come, and why they wait or have failed; queues are LocalQueues; clusters are WorkerClusters. ' +
    'Costs one LIST, and a WATCH with -w.',
  operands: [
    { usage: '<KIND>', about: 'jobs, queues or clusters', choices: KIND_WORDS },
    { usage: '[NAME...]', about: 'only these' },
  ],
  flags: FLAGS,
  examples: [
    'get jobs',
    'get jobs --state Waiting --sort-by age',
    'get jobs -A -o wide',
    'get jobs -l team=ml -w',
    'get clusters east -o yaml',
  ],
  configOf(values, [word = '', ...names]) {
    const view = kindView(word);
    if (view === undefined) throw new FlagError(`KIND: there is no ${JSON.stringify(word)}; write jobs, queues or clusters`);
    if (names.length > 0 && values.selector !== undefined) throw new FlagError('--selector: names were given, too; write one of them');
    if (values['all-namespaces'] && values.namespace !== undefined && view.resource.namespaced)
      throw new FlagError('--all-namespaces and --namespace contradict each other; write one of them');
    if (names.length > 0 && values['all-namespaces'] && view.resource.namespaced)
      throw new FlagError('--all-namespaces: a name needs its namespace; write --namespace NAME');
    const { state, 'sort-by': column } = values;
    const heads = view.columns.map(({ head }) => head);
    if (column !== undefined && !heads.includes(column.toUpperCase()))
      throw new FlagError(`--sort-by: ${view.name} have no column ${JSON.stringify(column)}; choose from ${heads.join(', ')}`);
    if (state !== undefined && !heads.includes('STATE')) throw new FlagError(`--state: ${view.name} have none; leave it out`);
    if (values.watch && (state !== undefined || column !== undefined))
      throw new FlagError('--watch: changes come in their own order, of all states; leave out --state and --sort-by');
    return { ...values, view, names, column };
  },
  load: async () => (await import('./run.ts')).runGet,
});
