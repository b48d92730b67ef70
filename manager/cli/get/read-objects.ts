import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { ApiError, isAbsent, isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { wholeObject, type KindView } from './kinds.ts';

/** A view to list, with the names that were asked for of each resource; none: all. */
export type Listing = {
  readonly view: KindView;
  readonly names: ReadonlyMap<Resource, readonly string[]>;
  /** Empty: all of them, or none. */
  readonly namespace: string;
};

type Refused = { readonly resource: Resource; readonly error: ApiError };

/** Of several kinds, `refused` are those that the user may not list, or that the cluster does not serve, as long as there are others. */
export async function readObjects(
  client: Pick<ReadClient, 'get' | 'list'>,
  { view, names, namespace }: Listing,
  selector: string | undefined,
): Promise<{ readonly objects: readonly KubeObject[]; readonly refused: readonly Refused[] }> {
  const ofKind = async (resource: Resource): Promise<readonly KubeObject[]> => {
    const named = names.get(resource) ?? [];
    const objects =
      named.length > 0
        ? await Promise.all(named.map((name) => client.get(resource, { namespace, name })))
        : (await client.list(resource, { namespace, ...omitUndefined({ labelSelector: selector }) })).items;
    const whole = objects.map((object) => wholeObject(resource, object));
    return named.length > 0 ? whole : whole.filter((object) => view.isOurs(object));
  };
  const refused: Refused[] = [];
  const ofKinds = view.resources.map((resource) =>
    ofKind(resource).catch((error: unknown) => {
      const isNamed = (names.get(resource) ?? []).length > 0;
      if (!(error instanceof ApiError) || !(isForbidden(error) || (isAbsent(error) && !isNamed))) throw error;
      if (refused.length === view.resources.length - 1) throw error;
      refused.push({ resource, error });
      return [];
    }),
  );
  return { objects: (await Promise.all(ofKinds)).flat(), refused };
}
