import type { DeepReadonly, ObjectMeta } from '../../shared/api/kubernetes.ts';
import { SHORT_OF_ANNOTATION } from '../../shared/api/names.ts';
import { qualifiedNameProblems } from '../../shared/kube/name-formats.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

type Annotated = DeepReadonly<Pick<ObjectMeta, 'annotations'>>;

/** Resources that are read at most. */
const RESOURCES_MAX = 16;

/** The resources of which a waiting Job is short, by its annotation; none where it has none, or it is malformed. */
export function readShortOf({ annotations }: Annotated): readonly string[] {
  const names = annotations?.[SHORT_OF_ANNOTATION]?.split(',') ?? [];
  return names.length > RESOURCES_MAX || names.some((name) => qualifiedNameProblems(name).length > 0) ? [] : names;
}

/** The change of the annotation after which it names these resources, for a merge patch of the metadata; empty where it does. */
export function shortOfChange(
  { annotations }: Annotated,
  resources: readonly string[] = [],
): { readonly annotations?: Readonly<Record<string, string | null>> } {
  const text = resources.length === 0 ? undefined : resources.slice(0, RESOURCES_MAX).join(',');
  return omitUndefined({
    annotations: annotations?.[SHORT_OF_ANNOTATION] === text ? undefined : { [SHORT_OF_ANNOTATION]: text ?? null },
  });
}
