import { FlagError, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { CLUSTER_FLAGS, FORM_FLAG, SELECTOR_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import type { Grouping } from './usage-table.ts';

const FLAGS = {
  ...CLUSTER_FLAGS,
  ...SELECTOR_FLAG,
  ...FORM_FLAG,
  by: { value: 'WHOM', fallback: 'queue', about: 'queue, cluster, namespace, or label:KEY', parse: grouping },
} satisfies FlagTable;

export const TOP = command({
  words: 'top',
  summary: 'show who uses how much now',
  about:
    'Sums up what the Jobs that are admitted hold of their quota, the most first, and counts those that wait. Jobs do not say who made them: where a label ' +
    'does, label:KEY shows its values. One LIST of Jobs in all namespaces.',
  flags: FLAGS,
  examples: ['top', 'top --by cluster', 'top --by label:user -o json'],
  configOf: (values) => values,
  load: async () => (await import('./run.ts')).runTop,
});

function grouping(given: string): Grouping {
  if (given === 'queue' || given === 'cluster' || given === 'namespace') return { kind: given };
  const key = /^label:(.+)$/.exec(given)?.[1];
  if (key === undefined) throw new FlagError(`${JSON.stringify(given)} is unknown; choose from queue, cluster, namespace, label:KEY`);
  return { kind: 'label', key: text(key) };
}
