import { text, FlagError, type FlagTable } from '../../../shared/runtime/flags.ts';
import { FairStrategy } from '../../admission/fair-sharing/fair-strategy.ts';
import { FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  queues: {
    value: 'FILE',
    about:
      'manifests of ClusterQueues, Cohorts, LocalQueues, ResourceFlavors, WorkerClusters and priority classes that replace those of the same names',
    parse: text,
  },
  flavors: { value: 'FILE', about: 'the same of ResourceFlavors alone', parse: text },
  'fair-sharing': {
    value: 'STRATEGY,...|off',
    about: `share fairly by these strategies (${Object.values(FairStrategy).join(', ')}), or not at all; default: as the manager did`,
    parse: fairSharing,
  },
  ...FORM_FLAG,
} satisfies FlagTable;

export const REPLAY = command({
  words: 'replay',
  summary: 'repeat the decisions of a decision log, under the same setup or another one',
  about:
    'Jobs of the log (the manager’s flag --decision-log) arrive when they did and run for as long as they did, and the functions of the manager ' +
    'decide, under the setup of the log or the one of the given files. Compares waits, admissions, preemptions and quota of each ClusterQueue with ' +
    'what happened. Contacts no cluster. Run times of Jobs that never ran, and stopping times of Jobs that were not stopped, are estimated; ' +
    'the output says for how many.',
  operands: [{ usage: '<LOG...>', about: 'files of one log, in any order: manager.log.1 manager.log; - is standard input' }],
  flags: FLAGS,
  exitCodes: { 1: 'something cannot be read' },
  examples: [
    'replay decisions.log',
    'replay decisions.log.1 decisions.log --queues queues.yaml',
    'replay decisions.log --fair-sharing off -o json',
  ],
  configOf: (flags, logs) => ({
    logs,
    queues: flags.queues,
    flavors: flags.flavors,
    fairSharing: flags['fair-sharing'],
    output: flags.output,
  }),
  load: async () => (await import('./run.ts')).runReplay,
});

function fairSharing(given: string): readonly FairStrategy[] {
  if (given === 'off') return [];
  const known = Object.values(FairStrategy);
  const strategies = known.filter((strategy) => given.split(',').includes(strategy));
  if (strategies.length > 0 && strategies.join() === given) return strategies;
  throw new FlagError(
    `${JSON.stringify(given)} names no strategies; write ${known.join(' or ')}, or both in this order with a comma, or off`,
  );
}
