import type { Resource } from '../../shared/api/resources.ts';
import { JOBS } from '../../shared/api/resources.ts';

/**
 * The name of an object of work within the manager. Jobs keep theirs. The name of any other kind begins with its resource, so that a Job
 * and a JobSet of one namespace and name are two keys: `jobsets.jobset.x-k8s.io:train`. No name of Kubernetes has a colon.
 */
export const qualifiedName = (qualifier: string | undefined, name: string): string =>
  qualifier === undefined ? name : `${qualifier}${SEPARATOR}${name}`;

/** The prefix of the names of a resource; undefined for Jobs, which have none. */
export const qualifierOf = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): string | undefined =>
  group === JOBS.group && plural === JOBS.plural ? undefined : `${plural}.${group}`;

/** The parts of a {@link qualifiedName}. */
export function parseQualifiedName(name: string): { readonly qualifier: string | undefined; readonly name: string } {
  const end = name.indexOf(SEPARATOR);
  return end < 0 ? { qualifier: undefined, name } : { qualifier: name.slice(0, end), name: name.slice(end + 1) };
}

const SEPARATOR = ':';
