import { durationMs, FlagError, oneOf, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, NAMESPACE_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...NAMESPACE_FLAG,
  ...FORM_FLAG,
  queue: { short: 'q', value: 'NAME', about: 'LocalQueue of the Jobs that name none', parse: text },
  via: { value: 'WAY', fallback: 'api', about: 'api: straight to the manager cluster', parse: oneOf(['api'] as const) },
  wait: { short: 'w', about: 'until all have ended; fails when one of them does' },
  timeout: { value: 'DURATION', fallback: '0s', about: 'give up waiting after so long; 0s: never', parse: durationMs },
  'dry-run': { about: 'have the API server check them, and say where and when each would run; nothing is made' },
} satisfies FlagTable;

export const SUBMIT = command({
  words: 'submit',
  summary: 'submit Jobs from files',
  about:
    'Reads batch/v1 Jobs (YAML or JSON, several documents in a file). All are read and checked before the first is made. They are made Switchyard’s (suspended, ' +
    'spec.managedBy) whether or not a webhook would do it. --dry-run also needs the rights of explain.',
  operands: [{ usage: '<FILE...>', about: 'manifests; - is standard input' }],
  flags: FLAGS,
  examples: ['submit job.yaml', 'submit a.yaml b.yaml -q main --wait', 'submit job.yaml --dry-run'],
  configOf(values, files) {
    if (files.filter((file) => file === '-').length > 1) throw new FlagError('FILE: - is named twice; standard input can be read once');
    if (values.timeout > 0 && !values.wait) throw new FlagError('--timeout: nothing is waited for; write --wait, too');
    if (values.wait && values['dry-run']) throw new FlagError('--dry-run: nothing is made that could be waited for; leave --wait out');
    return { ...values, files };
  },
  load: async () => (await import('./run.ts')).runSubmit,
});
