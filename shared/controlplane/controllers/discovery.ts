import type { Resource } from '../../api/resources.ts';
import type { RawClient } from '../../kube/client.ts';

export type DiscoveredResource = Resource & { readonly verbs: readonly string[] };

/** What an API server serves, and the documents that say so. */
export type Discovery = {
  readonly resources: readonly DiscoveredResource[];
  /** The kinds of all versions, by `kindKey`. */
  readonly byKind: ReadonlyMap<string, DiscoveredResource>;
  readonly texts: readonly string[];
};

/** Names a kind of one version, such as `batch/v1 Job`. */
export const kindKey = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`;

/**
 * What the API server serves now, subresources left out, each resource in one version: the preferred one of its group
 * where that has it. Kinds defined by a CustomResourceDefinition are included as soon as they are served. `known`: what was found before,
 * and comes back when nothing has changed. Asks for the aggregated documents (KEP-3352): two calls instead of one for every version of
 * every group.
 */
export async function discover(client: RawClient, known?: Discovery): Promise<Discovery> {
  const texts: string[] = [];
  for (const path of ['/api', '/apis']) texts.push(await client.raw({ method: 'GET', path, accept: AGGREGATED }));
  if (known !== undefined && texts.every((text, position) => text === known.texts[position])) return known;
  const found = new Map<string, DiscoveredResource>();
  const byKind = new Map<string, DiscoveredResource>();
  for (const { metadata, versions } of texts.flatMap((text) => (JSON.parse(text) as GroupDiscoveryList).items)) {
    const group = metadata?.name ?? '';
    for (const { version, resources } of versions) {
      for (const { resource: plural, responseKind, scope, verbs } of resources ?? []) {
        const id = `${group}/${plural}`;
        if (responseKind === undefined) continue;
        const { kind } = responseKind;
        const resource = found.get(id) ?? { group, version, plural, kind, namespaced: scope === 'Namespaced', verbs };
        found.set(id, resource);
        byKind.set(kindKey(group === '' ? version : `${group}/${version}`, kind), resource);
      }
    }
  }
  return { resources: [...found.values()], byKind, texts };
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The groups, with their versions in the order of preference. */
type GroupDiscoveryList = {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        /** Absent where there are subresources alone. */
        readonly responseKind?: { readonly kind: string };
        readonly scope: 'Namespaced' | 'Cluster';
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
};

export const canDo = (resource: DiscoveredResource, ...verbs: readonly string[]): boolean =>
  verbs.every((verb) => resource.verbs.includes(verb));
