import type { FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SERVER_FLAGS } from '../server/flags.ts';

const FLAGS = { ...CLUSTER_FLAGS, ...FORM_FLAG, ...SERVER_FLAGS } satisfies FlagTable;

export const QUEUES = command({
  words: 'queues',
  summary: 'show ClusterQueues: what waits, what is admitted, and how much quota is in use',
  about:
    'Shows usage and nominal quota; usage is higher if a queue borrows from its cohort. Costs one LIST of ClusterQueues. Users who may not list them see those of their LocalQueues, through the manager (--server).',
  operands: [{ usage: '[NAME...]', about: 'only these' }],
  flags: FLAGS,
  examples: ['queues', 'queues main -o json'],
  configOf: (values, names) => ({ ...values, names }),
  load: async () => (await import('./run.ts')).runQueues,
});
