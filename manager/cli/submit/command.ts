import { durationMs, FlagError, oneOf, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SUBMISSION_FLAGS, wayChoice } from '../submissions/flags.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...FORM_FLAG,
  queue: {
    short: 'q',
    value: 'NAME',
    about: 'LocalQueue of the Jobs that name none; default: the only one of their namespace',
    parse: text,
  },
  via: {
    value: 'WAY',
    fallback: 'api',
    about: 'api: to the manager cluster; redis or http: onto a queue of submissions',
    parse: oneOf(['api', 'redis', 'http'] as const),
  },
  ...SUBMISSION_FLAGS,
  wait: { short: 'w', about: 'until all have ended; fails when one of them does' },
  timeout: { value: 'DURATION', fallback: '0s', about: 'stop waiting after this time; 0s: never', parse: durationMs },
  'dry-run': { about: 'have the API server check them, and show where and when each would run; nothing is created' },
} satisfies FlagTable;

export const SUBMIT = command({
  words: 'submit',
  summary: 'submit Jobs from files',
  about:
    'Reads batch/v1 Jobs, and objects of other kinds that the manager takes (YAML or JSON). All are checked before the first one is created, also whether their ' +
    'LocalQueue exists. They are suspended and get spec.managedBy. --dry-run also needs the rights of explain. --via redis and --via http put them on a queue of ' +
    'submissions, where a known key never becomes a second Job, with the ConfigMaps of the same file that the Jobs refer to; http needs the right to create submissionqueues/submissions.',
  operands: [{ usage: '<FILE...>', about: 'manifests, or directories of them; - is standard input' }],
  flags: FLAGS,
  examples: [
    'submit job.yaml',
    'submit a.yaml b.yaml -q main --wait',
    'submit job.yaml --dry-run',
    'submit job.yaml --via http --submission-queue nightly --key run-17',
    'submit job.yaml --via redis --redis-url redis://localhost:6379',
  ],
  configOf(values, files) {
    if (files.filter((file) => file === '-').length > 1) throw new FlagError('FILE: - is named twice; standard input can be read once');
    if (values.timeout > 0 && !values.wait) throw new FlagError('--timeout: nothing is waited for; write --wait, too');
    if (values.wait && values['dry-run']) throw new FlagError('--dry-run: nothing is made that could be waited for; leave --wait out');
    if (values.via === 'api') {
      if (values.key !== undefined)
        throw new FlagError('--key: what goes straight to the cluster has none; write --via redis or --via http, too');
      return { kind: 'Cluster' as const, ...values, files };
    }
    if (values['dry-run']) throw new FlagError('--dry-run: a queue only takes; leave --via out');
    return { kind: 'Queue' as const, ...values, files, way: wayChoice(values, values.via) };
  },
  load: async () => async (config, session) =>
    config.kind === 'Queue'
      ? (await import('../submissions/run.ts')).runSubmitToQueue(config, session)
      : (await import('./run.ts')).runSubmit(config, session),
});
