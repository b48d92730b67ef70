import type { Resource } from '../api/resources.ts';

/** Path of a collection, or of one object when `name` is given. `namespace` '' or absent: the whole cluster. */
export function pathTo(resource: Resource, namespace?: string, name?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** `?a=1&b=x`, without the parameters that are undefined or ''. '' when none is left. */
export function queryString(parameters: Readonly<Record<string, string | number | undefined>>): string {
  let query = '';
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === '') continue;
    query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return query;
}
