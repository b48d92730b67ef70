import type { CarriedKind, CarryContent } from '../../api/carried-kinds.ts';
import { carriedKindOf, carriedReferences, formatReference, type PodReference } from '../../api/pod-references.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** The ConfigMaps and Secrets of the manager cluster that may travel with Jobs, by existence alone. */
export interface CarriedObjects {
  /**
   * Whether the object exists. Forbidden: nothing is carried from the namespace. Unknown: its objects are not listed, for lack of a right
   * or because the list has not ended.
   */
  find(namespace: string, reference: PodReference): 'Present' | 'Missing' | 'Forbidden' | 'Unknown';
  /** Calls back with the namespace and the `referenceKey` of an object that appears or disappears, and without key for all. */
  onChange(callback: (namespace: string, key: string | undefined) => void): void;
}

/** The Workload with the kinds of objects that travel with it: none where its pods refer to no object of these kinds. */
export function carryingWorkload(workload: Workload, carry: readonly CarriedKind[], content: CarryContent = 'Current'): Workload {
  if (workload.references.length === 0 && workload.carry === undefined) return workload;
  const kinds = carry.filter((kind) => workload.references.some((reference) => carriedKindOf(reference) === kind));
  return { ...workload, carry: kinds, ...(content === 'Admitted' && kinds.length > 0 ? { carryContent: content } : {}) };
}

/** Why a Workload waits for an object that travels with it; undefined if all objects exist that are not optional. */
export function missingReference(
  { namespace, carry = [], references }: Workload,
  objects: CarriedObjects | undefined,
): InadmissibleReason | undefined {
  if (objects === undefined) return undefined;
  for (const reference of carriedReferences(references, carry)) {
    const found = objects.find(namespace, reference);
    if (found === 'Present' || (found === 'Missing' && reference.optional)) continue;
    return {
      reason: QuotaReservedReason.MissingReference,
      message: messageOf(found, formatReference(namespace, reference), carriedKindOf(reference), namespace),
    };
  }
  return undefined;
}

function messageOf(found: 'Missing' | 'Forbidden' | 'Unknown', name: string, kind: CarriedKind, namespace: string): string {
  switch (found) {
    case 'Missing':
      return `${name} does not exist; it travels with the Job, which waits until it is created`;
    case 'Forbidden':
      return (
        `${name} is to travel with the Job, and nothing is carried from namespace ${namespace}: add it to --carry-namespaces of the manager ` +
        '(chart: carry.namespaces), or set annotation switchyard.dev/carry to None'
      );
    case 'Unknown':
      return `${name} is to travel with the Job, and the manager cannot list ${kind} of namespace ${namespace} yet; it needs the Role of the chart (carry.namespaces) there`;
  }
}
