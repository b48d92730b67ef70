import { command } from '../command.ts';
import { JOBS_FLAGS, JOBS_OPERAND } from './flags.ts';
import { chosenJobs } from './operands.ts';

export const HOLD = command({
  words: 'hold',
  summary: 'suspend Jobs and release their quota',
  about: 'Writes the annotation switchyard.dev/hold.',
  operands: [JOBS_OPERAND],
  flags: JOBS_FLAGS,
  examples: ['hold train', 'hold -l sweep=7 -n team --yes'],
  configOf: (values, operands) => ({ ...values, jobs: chosenJobs(operands, values) }),
  load: async () => (await import('./run.ts')).runHold,
});
