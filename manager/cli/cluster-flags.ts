import { FlagError, oneOf, text, type FlagTable } from '../../shared/runtime/flags.ts';
import { parseLabelSelector, SelectorSyntaxError } from '../../shared/kube/selectors.ts';

/** Which cluster a command speaks to, as kubectl takes it. */
export const CLUSTER_FLAGS = {
  kubeconfig: { value: 'FILE', about: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config', parse: text },
  context: { value: 'NAME', about: 'context of the kubeconfig; default: its current one', parse: text },
} satisfies FlagTable;

/** Which worker cluster, for what is read there. */
export const WORKER_CLUSTER_FLAGS = {
  'cluster-kubeconfig': { value: 'FILE', about: 'kubeconfig for the worker cluster on which the Job runs; default: the same', parse: text },
  'cluster-context': { value: 'NAME', about: 'context for that cluster; default: the one of the WorkerCluster’s name', parse: text },
} satisfies FlagTable;

export const NAMESPACE_FLAG = {
  namespace: { short: 'n', value: 'NAME', about: 'namespace; default: that of the context', parse: text },
} satisfies FlagTable;

export const ALL_NAMESPACES_FLAG = { 'all-namespaces': { short: 'A', about: 'in all namespaces' } } satisfies FlagTable;

export const SELECTOR_FLAG = {
  selector: { short: 'l', value: 'LABELS', about: 'only those with these labels: a=b,c!=d,e in (f,g)', parse: labelSelector },
} satisfies FlagTable;

/** For what a person reads as text, and a program as JSON or YAML. */
export const FORM_FLAG = {
  output: { short: 'o', value: 'FORM', fallback: 'text', about: 'text, json, yaml', parse: oneOf(['text', 'json', 'yaml'] as const) },
} satisfies FlagTable;

export type Form = 'text' | 'json' | 'yaml';

function labelSelector(given: string): string {
  try {
    parseLabelSelector(text(given));
    return given;
  } catch (error) {
    throw error instanceof SelectorSyntaxError
      ? new FlagError(`${error.message}; write such as team=ml,stage!=test`, { cause: error })
      : error;
  }
}

/** How what is listed is shown. */
export const LISTING_FLAGS = {
  output: {
    short: 'o',
    value: 'FORM',
    fallback: 'table',
    about: 'table, wide, json, yaml, name',
    parse: oneOf(['table', 'wide', 'json', 'yaml', 'name'] as const),
  },
  watch: { short: 'w', about: 'then a line for each change, until Ctrl-C' },
} satisfies FlagTable;
