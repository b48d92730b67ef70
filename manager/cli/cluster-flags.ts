import { text, type FlagTable } from '../../shared/runtime/flags.ts';

/** Which cluster a command speaks to, as kubectl takes it. */
export const CLUSTER_FLAGS = {
  kubeconfig: { value: 'FILE', about: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config', parse: text },
  context: { value: 'NAME', about: 'context of the kubeconfig; default: its current one', parse: text },
} satisfies FlagTable;

export const NAMESPACE_FLAG = {
  namespace: { short: 'n', value: 'NAME', about: 'namespace; default: that of the context', parse: text },
} satisfies FlagTable;
