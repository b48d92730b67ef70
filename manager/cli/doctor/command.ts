import { text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...FORM_FLAG,
  'manager-namespace': { value: 'NAME', fallback: 'switchyard', about: 'namespace in which the manager is installed', parse: text },
} satisfies FlagTable;

export const DOCTOR = command({
  words: 'doctor',
  summary: 'look for what is wrong with an installation, and say what to do about it',
  about:
    'Reads only: version and clock of the manager cluster, the definitions, the manager and its rights, webhooks and policies and what they cover, queues, worker clusters and their conditions, Jobs that no webhook has ' +
    'seen, that nobody manages or that wait too long, and when certificates and tokens end. What is wrong names its alert, and so its runbook (docs/runbooks); what you may not read is said, and is no failure.',
  flags: FLAGS,
  exitCodes: { 1: 'something is wrong' },
  examples: ['doctor', 'doctor -o json'],
  configOf: (values) => values,
  load: async () => (await import('./run.ts')).runDoctor,
});
