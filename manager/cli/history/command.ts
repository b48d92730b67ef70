import { durationMs, FlagError, oneOf, text, wholeNumber, type FlagTable } from '../../../shared/runtime/flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { HISTORY_STORE_FLAG } from '../history-store-flag.ts';
import { NO_SERVER, SERVER_FLAGS } from '../server/flags.ts';
import { namedJob } from '../jobs/operands.ts';

const FLAGS = {
  ...HISTORY_STORE_FLAG,
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...ALL_NAMESPACES_FLAG,
  ...SERVER_FLAGS,
  outcome: {
    value: 'OUTCOME',
    about: 'only Jobs with this outcome: Complete, Failed or Deleted',
    parse: oneOf(['Complete', 'Failed', 'Deleted'] as const),
  },
  'created-by': {
    value: 'USER',
    about: 'only those that this user created, or submitted over HTTP, as the API server names the user',
    parse: text,
  },
  since: { value: 'DURATION', about: 'only those that ended no longer ago than this, such as 24h', parse: durationMs },
  canaries: { about: 'canaries as well' },
  limit: { value: 'N', fallback: '50', about: 'at most this many, the latest first', parse: wholeNumber(1, 100_000) },
  output: { short: 'o', value: 'FORM', fallback: 'table', about: 'table, json, yaml', parse: oneOf(['table', 'json', 'yaml'] as const) },
} satisfies FlagTable;

export const HISTORY = command({
  words: 'history',
  summary: 'list finished Jobs, also deleted ones',
  about:
    'Reads what the manager keeps (its flag --history-store): where each Job ran, when, for how long, how often it was placed, its outcome, and how its pods ended. ' +
    'With --history-store it reads the store itself, with your rights there; of a kubeconfig, only the namespace is used. Without it, it asks the manager (--server), ' +
    'which shows the Jobs of one namespace to users who may list Jobs there.',
  operands: [
    {
      usage: '[JOB]',
      about: 'only Jobs of this name, with how their pods ended: NAME, NAMESPACE/NAME, or KIND/NAME, such as jobset/train',
    },
  ],
  flags: FLAGS,
  examples: [
    'history -n team',
    'history --history-store .switchyard/1/history -A',
    'history nightly -o json',
    'history jobset/train',
    'history --outcome Failed --since 24h',
  ],
  configOf(values, [operand]) {
    // A manager that is named is asked, whatever a variable says of the store.
    const store = values.server === undefined || values.server === NO_SERVER ? values['history-store'] : undefined;
    if (store === undefined && values.server === NO_SERVER)
      throw new FlagError('--history-store: is missing; write what the manager was given there');
    const job = operand === undefined ? undefined : { ...namedJob(operand), isJob: /^jobs?(\.batch)?\//.test(operand) };
    if (values['all-namespaces'] && (job !== undefined || values.namespace !== undefined))
      throw new FlagError('--all-namespaces: a namespace or a Job was named, too; write one of them');
    return { ...values, store, job };
  },
  load: async () => (await import('./run.ts')).runHistory,
});
