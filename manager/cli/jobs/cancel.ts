import { FlagError, oneOf, type FlagTable } from '../../../shared/runtime/flags.ts';
import { command } from '../command.ts';
import { SUBMISSION_FLAGS, wayChoice } from '../submissions/flags.ts';
import { JOBS_FLAGS, JOBS_OPERAND } from './flags.ts';
import { chosenJobs } from './operands.ts';

const FLAGS = {
  ...JOBS_FLAGS,
  via: { value: 'WAY', about: 'redis or http; default: the one whose address is set', parse: oneOf(['redis', 'http'] as const) },
  ...SUBMISSION_FLAGS,
} satisfies FlagTable;

export const CANCEL = command({
  words: 'cancel',
  summary: 'delete Jobs, wherever they run, with all of their pods',
  about:
    'Their copies and pods on worker clusters are stopped and deleted, their quota is given back. What has finished stays. Several Jobs at once, or those of a selector, are counted and confirmed first. --key names a submission of a queue instead, by Redis or by the manager’s HTTP API.',
  operands: [JOBS_OPERAND],
  flags: FLAGS,
  examples: ['cancel train', 'cancel -l sweep=7 -n team --yes', 'cancel --key run-17 --redis-url redis://localhost:6379'],
  configOf(values, operands) {
    const { key } = values;
    if (key === undefined) return { kind: 'Jobs' as const, ...values, jobs: chosenJobs(operands, values) };
    if (operands.length > 0 || values.selector !== undefined) throw new FlagError('--key: Jobs are named, too; write one of them');
    return { kind: 'Submission' as const, ...values, key, way: wayChoice(values, values.via) };
  },
  load: async () => async (config, session) =>
    config.kind === 'Submission'
      ? (await import('../submissions/run.ts')).runCancelSubmission(config, session)
      : (await import('./run.ts')).runCancel(config, session),
});
