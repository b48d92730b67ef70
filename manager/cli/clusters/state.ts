import { FlagError, durationMs, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command, type Command } from '../command.ts';

const FLAGS = { ...CLUSTER_FLAGS, ...FORM_FLAG } satisfies FlagTable;
const DRAIN_FLAGS = {
  ...FLAGS,
  wait: { about: 'until no Job is placed there' },
  timeout: { value: 'DURATION', fallback: '0s', about: 'stop waiting after this time; 0s: never', parse: durationMs },
} satisfies FlagTable;

type State = 'Active' | 'Cordoned' | 'Draining';
const SAID: Readonly<Record<'cordon' | 'uncordon', { readonly state: State; readonly summary: string; readonly about: string }>> = {
  cordon: {
    state: 'Cordoned',
    summary: 'place no more Jobs on clusters',
    about: 'Running Jobs continue. Writes spec.state of the WorkerCluster.',
  },
  uncordon: {
    state: 'Active',
    summary: 'let clusters take Jobs again',
    about: 'Ends cordon and drain. Writes spec.state of the WorkerCluster.',
  },
};

const OPERANDS = [{ usage: '<CLUSTER...>', about: 'names of WorkerClusters' }];

const simple = (words: string, verb: 'cordon' | 'uncordon'): Command =>
  command({
    words,
    summary: SAID[verb].summary,
    about: SAID[verb].about,
    operands: OPERANDS,
    flags: FLAGS,
    examples: [`${words} east`],
    configOf: (values, names) => ({ ...values, names, state: SAID[verb].state, wait: false, timeout: 0 }),
    load: async () => (await import('./set-state.ts')).runSetState,
  });

const drain = (words: string): Command =>
  command({
    words,
    summary: 'place no more Jobs on clusters, and move their Jobs to other clusters',
    about: 'Their Jobs are suspended and queue again. Writes spec.state of the WorkerCluster; uncordon reverts it.',
    operands: OPERANDS,
    flags: DRAIN_FLAGS,
    examples: [`${words} east`, `${words} east --wait --timeout 10m`],
    configOf(values, names) {
      if (values.timeout > 0 && !values.wait) throw new FlagError('--timeout: nothing is waited for; write --wait, too');
      return { ...values, names, state: 'Draining' as const };
    },
    load: async () => (await import('./set-state.ts')).runSetState,
  });

/** Below `clusters`, and, as of kubectl, by themselves. */
export const STATE_COMMANDS: readonly Command[] = [
  simple('clusters cordon', 'cordon'),
  simple('clusters uncordon', 'uncordon'),
  drain('clusters drain'),
];
export const TOP_STATE_COMMANDS: readonly Command[] = [simple('cordon', 'cordon'), simple('uncordon', 'uncordon'), drain('drain')];
