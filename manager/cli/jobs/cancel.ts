import { command } from '../command.ts';
import { JOBS_FLAGS, JOBS_OPERAND } from './flags.ts';
import { chosenJobs } from './operands.ts';

export const CANCEL = command({
  words: 'cancel',
  summary: 'delete Jobs, wherever they run, with all of their pods',
  about:
    'Their copies and pods on worker clusters are stopped and deleted, their quota is given back. What has finished stays. Several Jobs at once, or those of a selector, are counted and confirmed first.',
  operands: [JOBS_OPERAND],
  flags: JOBS_FLAGS,
  examples: ['cancel train', 'cancel -l sweep=7 -n team --yes'],
  configOf: (values, operands) => ({ ...values, jobs: chosenJobs(operands, values) }),
  load: async () => (await import('./run.ts')).runCancel,
});
