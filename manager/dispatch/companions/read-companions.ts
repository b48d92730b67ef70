import type { ConfigMap, DeepReadonly, Secret, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, SECRETS } from '../../../shared/api/resources.ts';
import { isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { carriedKindOf, carriedReferences, formatReference, type PodReference, referenceKey } from '../../api/pod-references.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { type CompanionPlan, COMPANIONS_MAX, type FoundObject, planCompanions } from './plan-companions.ts';

/**
 * Reads the objects that a Job takes along, with one GET each, and plans its companions. The content is held by the caller alone.
 *
 * @throws {ApiError} when the manager cluster does not answer a read.
 */
export async function readCompanions(
  { home, kind, origin }: { readonly home: ReadClient; readonly kind: WorkKind; readonly origin: string },
  local: DeepReadonly<WorkObject>,
  carry: readonly CarriedKind[],
): Promise<CompanionPlan> {
  const { namespace } = local.metadata;
  const references = carriedReferences(kind.references(local), carry);
  if (references.length > COMPANIONS_MAX) return planCompanions(namespace, references, new Map(), origin);
  const found = new Map<string, FoundObject>();
  for (const reference of references) {
    const object = await read(home, namespace, reference);
    if (object === 'Forbidden') return { kind: 'Problem', problem: forbidden(namespace, reference) };
    found.set(referenceKey(reference), object);
  }
  return planCompanions(namespace, references, found, origin);
}

async function read(home: ReadClient, namespace: string, { kind, name }: PodReference): Promise<FoundObject | 'Forbidden'> {
  const key = { namespace, name };
  try {
    return await (kind === 'ConfigMap' ? home.get<ConfigMap>(CONFIG_MAPS, key) : home.get<Secret>(SECRETS, key));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isForbidden(error)) return 'Forbidden';
    throw error;
  }
}

const forbidden = (namespace: string, reference: PodReference): { reason: DispatchedReason; message: string } => ({
  reason: DispatchedReason.MissingReference,
  message:
    `${formatReference(namespace, reference)} travels with the Job, and the manager may not read ${carriedKindOf(reference)} of namespace ${namespace}: ` +
    'install the Role of the chart there (carry.namespaces)',
});
