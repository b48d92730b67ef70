import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CARRIED_CONTENT_ANNOTATION } from '../../../shared/api/names.ts';
import { isJsonObject, parseJson } from '../../api/json-value.ts';
import { formatReference, type PodReference, referenceKey } from '../../api/pod-references.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { Companion } from './plan-companions.ts';

/** The digests of the objects that the first copy of a Job took along, by `referenceKey`. An optional object that was absent has none. */
export type CarriedContent = Readonly<Record<string, string>>;

/** What the annotation of the Job says; undefined: no copy has taken anything along yet, or the annotation cannot be read. */
export function carriedContentOf({ metadata }: DeepReadonly<WorkObject>): CarriedContent | undefined {
  const value = parseJson(metadata.annotations?.[CARRIED_CONTENT_ANNOTATION] ?? '');
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).flatMap(([key, digest]) => (typeof digest === 'string' ? [[key, digest]] : [])));
}

/** The annotation for these companions. */
export const carriedContentText = (companions: readonly Companion[]): string =>
  JSON.stringify(Object.fromEntries(companions.map(({ reference, digest }) => [referenceKey(reference), digest])));

/** Why a copy may not take these companions along: the content of one is not what the first copy had. Undefined: all have theirs. */
export function changedContent(
  local: DeepReadonly<WorkObject>,
  references: readonly PodReference[],
  companions: readonly Companion[],
  first: CarriedContent,
): DispatchProblem | undefined {
  const digests = new Map(companions.map(({ reference, digest }) => [referenceKey(reference), digest]));
  const changed = references.find((reference) => digests.get(referenceKey(reference)) !== first[referenceKey(reference)]);
  if (changed === undefined) return undefined;
  const { namespace, name } = local.metadata;
  const what = first[referenceKey(changed)] === undefined ? 'did not exist' : 'had other content';
  return {
    reason: DispatchedReason.ContentChanged,
    message:
      `${formatReference(namespace, changed)} ${what} when Job ${namespace}/${name} was first dispatched, and its queue holds it to that ` +
      '(carryContent: Admitted): put it back, or create the Job again',
  };
}
