import type { DeepReadonly, Namespace } from '../../../shared/api/kubernetes.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import type { WorkerClusterSpec } from '../../api/worker-cluster.ts';
import { chosenLabels, DEFAULT_NAMESPACE_LABELS } from '../cluster/namespace-labels.ts';

/** The answer to a namespace that is missing on the cluster: refuse the Job, or create the namespace with these labels. */
export type NamespacePolicy =
  | { readonly kind: 'Require' }
  | { readonly kind: 'Create'; readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> };

/** A created namespace gets labels of the same namespace at home; `labelsOf` throws while this one is not known. */
export function namespacePolicy(
  { namespaces = 'Require', namespaceLabels = DEFAULT_NAMESPACE_LABELS }: DeepReadonly<WorkerClusterSpec>,
  home: Pick<Lister<Namespace>, 'get'>,
): NamespacePolicy {
  if (namespaces === 'Require') return { kind: 'Require' };
  return {
    kind: 'Create',
    labelsOf(name) {
      const original = home.get({ namespace: '', name });
      // Without its labels the namespace would be less guarded than at home.
      if (original === undefined) throw new Error(`the labels of namespace ${name} of the manager cluster are not known yet`);
      return chosenLabels(original.metadata.labels ?? {}, namespaceLabels);
    },
  };
}
