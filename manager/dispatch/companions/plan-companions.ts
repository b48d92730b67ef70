import type { ConfigMap, DeepReadonly, Secret, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { contentDigest, contentOf } from '../../api/content-digest.ts';
import { formatReference, type PodReference, referenceKey } from '../../api/pod-references.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/** A ConfigMap or Secret that a copy takes along, under a name that its content determines. */
export type Companion = {
  readonly reference: PodReference;
  /** Of its content. */
  readonly digest: string;
  readonly object: Unsaved<ConfigMap> | Unsaved<Secret>;
};

/** The objects that a copy takes along, or why it cannot be created. */
export type CompanionPlan =
  | { readonly kind: 'Ready'; readonly companions: readonly Companion[] }
  | { readonly kind: 'Problem'; readonly problem: DispatchProblem };

/** An object of the manager cluster as it was read; undefined: it does not exist. */
export type FoundObject = DeepReadonly<ConfigMap> | DeepReadonly<Secret> | undefined;

/** Bounds for one Job: objects, and bytes of their content together. */
export const COMPANIONS_MAX = 64;
export const COMPANION_BYTES_MAX = 4 * 1024 * 1024;
const NAME_MAX = 253;
const HASH_LENGTH = 12;

/** Secrets that are credentials for the manager cluster itself, which its API server makes and rotates. */
const BOUND_TYPES: readonly string[] = ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'];

/**
 * The companions of a copy. The name of each object is `NAME-HASH` with a digest of the content, so that Jobs of equal content share one,
 * and no object ever changes under a pod that runs.
 */
export function planCompanions(
  namespace: string,
  references: readonly PodReference[],
  found: ReadonlyMap<string, FoundObject>,
  origin: string,
): CompanionPlan {
  if (references.length > COMPANIONS_MAX)
    return problem(`the Job takes ${references.length} ConfigMaps and Secrets along, and ${COMPANIONS_MAX} are allowed; leave some out`);
  const companions: Companion[] = [];
  let bytes = 0;
  for (const reference of references) {
    const object = found.get(referenceKey(reference));
    if (object === undefined) {
      if (reference.optional) continue;
      return problem(`${formatReference(namespace, reference)} does not exist; it travels with the Job`);
    }
    const type = 'type' in object ? object.type : undefined;
    if (type !== undefined && BOUND_TYPES.includes(type))
      return problem(`${formatReference(namespace, reference)} is of type ${type}, which is never carried to another cluster`);
    if (reference.content !== undefined && reference.content !== contentDigest(object))
      return problem(`${formatReference(namespace, reference)} has other content than the submission brought; submit the Job again`);
    const companion = companionOf(namespace, reference, object, origin);
    companions.push(companion);
    bytes += JSON.stringify(companion.object).length;
  }
  if (bytes > COMPANION_BYTES_MAX)
    return problem(`the ConfigMaps and Secrets of the Job have ${bytes} bytes, and ${COMPANION_BYTES_MAX} are allowed`);
  return { kind: 'Ready', companions };
}

function companionOf(namespace: string, reference: PodReference, object: NonNullable<FoundObject>, origin: string): Companion {
  const digest = contentDigest(object).slice(0, HASH_LENGTH);
  const stem = reference.name.slice(0, NAME_MAX - HASH_LENGTH - 1).replace(/[-.]+$/, '');
  const metadata = { name: `${stem}-${digest}`, namespace, labels: { [ORIGIN_LABEL]: origin } };
  return { reference, digest, object: { metadata, ...contentOf(object), immutable: true } };
}

/** The copy with the names of its companions in its pods; nothing else differs. */
export function withCompanions(
  { copies }: Pick<WorkKind, 'copies'>,
  copy: Unsaved<WorkObject>,
  companions: readonly Companion[],
): Unsaved<WorkObject> {
  if (companions.length === 0) return copy;
  const names = new Map(companions.map(({ reference, object }) => [referenceKey(reference), object.metadata.name]));
  return copies.withReferences(copy, (reference) => names.get(referenceKey(reference)));
}

/** Whether a copy that exists refers to these companions. The content may have changed since it was created. */
export function refersTo(kind: Pick<WorkKind, 'references'>, copy: DeepReadonly<WorkObject>, companions: readonly Companion[]): boolean {
  const names = new Set(kind.references(copy).map(referenceKey));
  return companions.every(({ reference, object }) => names.has(referenceKey({ kind: reference.kind, name: object.metadata.name ?? '' })));
}

const problem = (message: string): CompanionPlan => ({ kind: 'Problem', problem: { reason: DispatchedReason.MissingReference, message } });
