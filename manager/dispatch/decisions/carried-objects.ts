import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { carriedReferences } from '../../api/pod-references.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { MirrorGroup } from '../mirror/mirror-group.ts';

/**
 * The kinds of objects that a copy on this cluster takes along, beside attachments; undefined: it takes nothing along. On the manager
 * cluster itself they are there already.
 */
export function carriedTo(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  { carry = [] }: AdmissionRecord,
  cluster: string,
): readonly CarriedKind[] | undefined {
  if (group.clusters.get(cluster)?.local === true) return undefined;
  return carriedReferences(group.kind.references(local), carry).length === 0 ? undefined : carry;
}
