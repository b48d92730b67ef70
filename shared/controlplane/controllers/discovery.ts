import type { Resource } from '../../api/resources.ts';
import type { RawClient } from '../../kube/client.ts';

export type DiscoveredResource = Resource & { readonly verbs: readonly string[] };

type ResourceList = { readonly resources?: readonly { name: string; kind: string; namespaced: boolean; verbs?: string[] }[] };
type GroupList = {
  readonly groups?: readonly { name: string; preferredVersion: { version: string }; versions: readonly { version: string }[] }[];
};

/**
 * What the API server serves now, subresources left out, each resource in one version: the preferred one of its group
 * where that has it. Kinds defined by a CustomResourceDefinition are included as soon as they are served.
 */
export async function discoverResources(client: RawClient): Promise<DiscoveredResource[]> {
  const fetch = async <T>(path: string): Promise<T> => JSON.parse(await client.raw({ method: 'GET', path })) as T;
  const found = new Map<string, DiscoveredResource>();
  const collect = (group: string, version: string, list: ResourceList): void => {
    for (const { name, kind, namespaced, verbs = [] } of list.resources ?? []) {
      const id = `${group}/${name}`;
      if (!name.includes('/') && !found.has(id)) found.set(id, { group, version, plural: name, kind, namespaced, verbs });
    }
  };
  collect('', 'v1', await fetch<ResourceList>('/api/v1'));
  for (const group of (await fetch<GroupList>('/apis')).groups ?? []) {
    const preferred = group.preferredVersion.version;
    const others = group.versions.map(({ version }) => version).filter((version) => version !== preferred);
    for (const version of [preferred, ...others]) collect(group.name, version, await fetch<ResourceList>(`/apis/${group.name}/${version}`));
  }
  return [...found.values()];
}

export const canDo = (resource: DiscoveredResource, ...verbs: readonly string[]): boolean =>
  verbs.every((verb) => resource.verbs.includes(verb));
