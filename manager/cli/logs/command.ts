import { FlagError, oneOf, wholeNumber, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, NAMESPACE_FLAG, WORKER_CLUSTER_FLAGS } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { HISTORY_STORE_FLAG } from '../history-store-flag.ts';
import { SERVER_FLAGS } from '../server/flags.ts';
import { namedJob } from '../jobs/operands.ts';

const FLAGS = {
  ...HISTORY_STORE_FLAG,
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...WORKER_CLUSTER_FLAGS,
  ...SERVER_FLAGS,
  output: {
    short: 'o',
    value: 'FORM',
    fallback: 'text',
    about: 'text; json: each line as an object of its own',
    parse: oneOf(['text', 'json'] as const),
  },
  follow: { short: 'f', about: 'continue with new lines, also of later pods and on other clusters, until the Job has ended' },
  index: { value: 'N', about: 'only pods of this completion index', parse: wholeNumber(0) },
  failed: { about: 'only pods that failed' },
  tail: { value: 'N', about: 'only the last lines of each pod', parse: wholeNumber(0) },
} satisfies FlagTable;

export const LOGS = command({
  words: 'logs',
  summary: 'print the logs of a Job’s pods, also after the pods are gone',
  about:
    'Reads logs of existing pods from the worker cluster, with your own rights there (list pods, get pods/log). Without a kubeconfig of it, -f follows them through the ' +
    'manager, if it reads logs for others (--dashboard-live-logs), from 1,000 lines before their end. Afterwards prints kept log tails: from the manager (--server), with ' +
    'the right to get the Job and pods/log, or from --history-store; otherwise how the last pod ended. The pods of an object of another kind ' +
    'are found by the labels that its WorkKind names (podLabels).',
  operands: [{ usage: '<JOB>', about: 'NAME, NAMESPACE/NAME, or KIND/NAME, such as jobset/train' }],
  flags: FLAGS,
  exitCodes: { 1: 'there is no such Job, or none of its logs are kept' },
  examples: [
    'logs train -f',
    'logs jobset/train',
    'logs train --index 3 --tail 20',
    'logs nightly --failed --history-store s3://jobs/history',
  ],
  configOf(values, [operand]) {
    if (operand === undefined) throw new FlagError('JOB: no Job is named; write its name');
    return { ...values, job: namedJob(operand) };
  },
  load: async () => (await import('./run.ts')).runLogs,
});
