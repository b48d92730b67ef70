import { command } from '../command.ts';
import { JOBS_FLAGS, JOBS_OPERAND } from './flags.ts';
import { chosenJobs } from './operands.ts';

export const RELEASE = command({
  words: 'release',
  summary: 'release held Jobs',
  about: 'Removes the annotation switchyard.dev/hold: the Jobs take their old places in their queues.',
  operands: [JOBS_OPERAND],
  flags: JOBS_FLAGS,
  examples: ['release train', 'release -l sweep=7 -n team --yes'],
  configOf: (values, operands) => ({ ...values, jobs: chosenJobs(operands, values) }),
  load: async () => (await import('./run.ts')).runRelease,
});
