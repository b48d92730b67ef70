import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import { qualifiedName } from '../work-kind/qualified-name.ts';
import { RequestRefused, type Parameters } from './route.ts';

/** The object of a path with `{namespace}/{resource}/{name}`. Throws {@link RequestRefused} for a resource that is no work. */
export function workOf({ namespace = '', resource, name = '' }: Parameters): ObjectKey {
  return { namespace, name: qualifiedName(resource === undefined ? undefined : qualifierIn(resource), name) };
}

/** A resource as the path says it: `jobs`, or `RESOURCE.GROUP` of another kind. */
function qualifierIn(resource: string): string | undefined {
  if (resource === 'jobs') return undefined;
  if (/^[a-z0-9][-a-z0-9]*\.[a-z0-9][-.a-z0-9]*$/.test(resource)) return resource;
  throw new RequestRefused(404, 'NotFound', `there is no ${resource} here; write jobs, or RESOURCE.GROUP of another kind of work`);
}
