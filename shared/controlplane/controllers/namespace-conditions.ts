import type { Namespace } from '../../api/kubernetes.ts';
import type { Resource } from '../../api/resources.ts';

/** What of one resource is left in a namespace that is being emptied. */
export type ContentFinding = { readonly resource: Resource; readonly count: number; readonly finalizers: readonly string[] };

type Condition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number];
type Verdict = Pick<Condition, 'type' | 'status'> & { readonly reason: string; readonly message: string };

/** The five conditions by which upstream's namespace controller tells how far the deletion has come. */
export function deletionConditions(remaining: readonly ContentFinding[]): Verdict[] {
  return [
    verdict('NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'),
    verdict('NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    verdict(
      'NamespaceDeletionContentFailure',
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ),
    contentRemaining(remaining),
    finalizersRemaining(remaining),
  ];
}

const verdict = (type: string, status: string, reason: string, message: string): Verdict => ({ type, status, reason, message });

function contentRemaining(remaining: readonly ContentFinding[]): Verdict {
  if (remaining.length === 0) return verdict('NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed');
  const parts = remaining.map(({ resource, count }) => `${resource.plural}.${resource.group} has ${count} resource instances`).sort();
  return verdict('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', `Some resources are remaining: ${parts.join(', ')}`);
}

function finalizersRemaining(remaining: readonly ContentFinding[]): Verdict {
  const counts = new Map<string, number>();
  for (const finalizer of remaining.flatMap((finding) => finding.finalizers)) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  if (counts.size === 0) {
    return verdict('NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished');
  }
  const parts = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  const message = `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`;
  return verdict('NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain', message);
}

/** The known conditions with the verdicts put in; the same array when nothing differs. Times move only with the status. */
export function mergeConditions(known: Condition[], verdicts: readonly Verdict[], now: string): Condition[] {
  let changed = false;
  const merged = [...known];
  for (const next of verdicts) {
    const index = merged.findIndex((condition) => condition.type === next.type);
    const previous = merged[index];
    if (previous?.status === next.status && previous.reason === next.reason && previous.message === next.message) continue;
    changed = true;
    const lastTransitionTime = previous?.status === next.status ? (previous.lastTransitionTime ?? now) : now;
    merged.splice(index < 0 ? merged.length : index, index < 0 ? 0 : 1, { ...next, lastTransitionTime });
  }
  return changed ? merged : known;
}
