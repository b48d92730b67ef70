import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { JOBS } from '../../shared/api/resources.ts';
import type { SingleKind, WorkKind } from './work-kind.ts';

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

/** An object of work as kubectl takes it, in its namespace: `job -n team train`, `jobsets.jobset.x-k8s.io -n team train`. */
export function kubectlOperands({ namespace, name: qualified }: ObjectKey): string {
  const { qualifier = 'job', name } = parseQualifiedName(qualified);
  return `${qualifier} -n ${namespace} ${name}`;
}

/**
 * An object of work as people read it: `JobSet team/train`. One of a kind that is not known has its resource instead of its kind:
 * `jobsets.jobset.x-k8s.io team/train`.
 */
export function formatWork(kind: Pick<WorkKind, 'of'> | undefined, { namespace, name: qualified }: ObjectKey): string {
  const { qualifier, name } = parseQualifiedName(qualified);
  const resource = kind?.of(qualified).resource;
  const known = resource !== undefined && qualifierOf(resource) === qualifier ? resource.kind : (qualifier ?? JOBS.kind);
  return `${known} ${namespace}/${name}`;
}

/** A text for people, with the objects of these kinds that it names as {@link formatWork} does: `JobSet team/train`. */
export function withPlainNames(kinds: readonly Pick<SingleKind, 'resource'>[], text: string): string {
  if (kinds.length === 0 || !text.includes(SEPARATOR)) return text;
  const words = new Map(kinds.map(({ resource }) => [qualifierOf(resource), resource.kind]));
  return text.replaceAll(QUALIFIED_KEY, (whole, namespace: string, qualifier: string, name: string) => {
    const word = words.get(qualifier);
    return word === undefined ? whole : `${word} ${namespace}/${name}`;
  });
}

/** Also behind the word Job, which such an object is not. */
const QUALIFIED_KEY = /(?:\bJob )?\b([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*):([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)/g;
const SEPARATOR = ':';
