import { FlagError, text, wordsOf, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, LISTING_FLAGS, NAMESPACE_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';
import { VIEW_WORDS, kindView } from './kinds.ts';
import { EVERY_KIND, wantedOf } from './wanted.ts';
import { WORK_COLUMN_NAMES } from './work-view.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SELECTOR_FLAG,
  ...LISTING_FLAGS,
  ...SERVER_FLAGS,
  state: { value: 'STATE,...', about: 'only those whose column STATE is one of these, such as Waiting,Held', parse: wordsOf },
  'sort-by': {
    value: 'COLUMN',
    about: 'the head of a column, such as age or cluster',
    parse: text,
  },
} satisfies FlagTable;

export const GET = command({
  words: 'get',
  summary: 'list Jobs and objects of other kinds, queues or clusters',
  about:
    'Jobs are those that Switchyard runs, with where they are, how far they have come, and why they wait or have failed; queues are LocalQueues; clusters are WorkerClusters. ' +
    'Objects of the kinds that WorkKinds describe are listed as Jobs are; all lists them with the Jobs, in a table with a column KIND. ' +
    'Costs one LIST of each kind, and a WATCH with -w. Kinds other than jobs, queues and clusters also cost one LIST of WorkKinds, and need the right to it; without it, all lists Jobs alone. ' +
    'Users who may not list WorkerClusters see their names and states, through the manager (--server).',
  operands: [
    {
      usage: '[KIND]',
      about: `jobs, queues, clusters, another kind of work such as jobsets, or ${EVERY_KIND} of these; default: ${EVERY_KIND}`,
      suggestions: ['jobs', 'job', EVERY_KIND, ...VIEW_WORDS],
    },
    { usage: '[NAME...]', about: 'only these; KIND/NAME, such as jobset/train, needs no KIND before it' },
  ],
  flags: FLAGS,
  examples: [
    'get jobs',
    'get jobs --state Waiting --sort-by age',
    'get jobs -A -o wide',
    'get jobs -l team=ml -w',
    'get jobsets',
    'get jobset/train job/prepare',
    'get clusters east -o yaml',
  ],
  configOf(values, operands) {
    const wanted = wantedOf(operands);
    const views = wanted.flatMap(({ word }) => kindView(word) ?? []);
    if (views.length > 0 && wanted.length > 1) throw new FlagError('KIND: queues and clusters are listed one kind at a time');
    const [view] = views;
    const isNamespaced = view?.resources.every(({ namespaced }) => namespaced) ?? true;
    const isNamed = wanted.some(({ names }) => names.length > 0);
    if (isNamed && values.selector !== undefined) throw new FlagError('--selector: names were given, too; write one of them');
    if (values['all-namespaces'] && values.namespace !== undefined && isNamespaced)
      throw new FlagError('--all-namespaces and --namespace contradict each other; write one of them');
    if (isNamed && values['all-namespaces'] && isNamespaced)
      throw new FlagError('--all-namespaces: a name needs its namespace; write --namespace NAME');
    const { state, 'sort-by': column } = values;
    const heads = view?.columns.map(({ head }) => head) ?? WORK_COLUMN_NAMES;
    const name = view?.name ?? 'jobs';
    if (column !== undefined && !heads.includes(column.toUpperCase()))
      throw new FlagError(`--sort-by: ${name} have no column ${JSON.stringify(column)}; choose from ${heads.join(', ')}`);
    if (state !== undefined && !heads.includes('STATE')) throw new FlagError(`--state: ${name} have none; leave it out`);
    if (values.watch && (state !== undefined || column !== undefined))
      throw new FlagError('--watch: changes come in their own order, of all states; leave out --state and --sort-by');
    return { ...values, wanted, column };
  },
  load: async () => (await import('../clusters/run.ts')).runGetOrClusters,
});
