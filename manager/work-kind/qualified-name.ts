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

/** An object of work as the commands of `switchyard` take it: `team/train` of a Job, `jobset/train -n team` of the kind JobSet. */
export function operandOf({ namespace, name: qualified }: ObjectKey, kind: string | undefined): string {
  const { qualifier, name } = parseQualifiedName(qualified);
  if (qualifier === undefined) return `${namespace}/${name}`;
  return `${wordOf(qualifier, kind).toLowerCase()}/${name} -n ${namespace}`;
}

/** What people call a kind. One that is called Job, and is of another group than Kubernetes' own, has its resource instead. */
export function wordOfKind(resource: Pick<Resource, 'group' | 'plural' | 'kind'>): string {
  const qualifier = qualifierOf(resource);
  return qualifier === undefined ? resource.kind : wordOf(qualifier, resource.kind);
}

/** The same for the kind of the objects of this name. */
export const wordOfName = (kind: Pick<WorkKind, 'of'>, name: string): string => wordOfKind(kind.of(name).resource);

/** The same of a kind with this {@link qualifierOf}; `kind` is undefined where nobody knows it. */
export const wordOf = (qualifier: string, kind: string | undefined): string =>
  kind === undefined || kind === JOBS.kind ? qualifier : kind;

/** The group and plural of an object of work. */
export function resourceOfWork(name: string): Pick<Resource, 'group' | 'plural'> {
  const { qualifier } = parseQualifiedName(name);
  if (qualifier === undefined) return JOBS;
  const end = qualifier.indexOf('.');
  return { plural: qualifier.slice(0, end), group: qualifier.slice(end + 1) };
}

/** The key of an object of work for users and programs: `team/train` of a Job, else `team/jobsets.jobset.x-k8s.io/train`. */
export function workKey({ namespace, name: qualified }: ObjectKey): string {
  const { qualifier, name } = parseQualifiedName(qualified);
  return qualifier === undefined ? `${namespace}/${name}` : `${namespace}/${qualifier}/${name}`;
}

/** The object of a {@link workKey}. */
export function parseWorkKey(key: string): ObjectKey {
  const [namespace = '', first = '', second] = key.split('/');
  return { namespace, name: second === undefined ? first : qualifiedName(first, second) };
}

/** The {@link workKey} of a key within the manager: `team/jobsets.jobset.x-k8s.io:train`. */
export const toWorkKey = (key: string): string => key.replace(SEPARATOR, '/');

/** The path of an object of work in HTTP APIs: `namespaces/team/jobs/train`, `namespaces/team/jobsets.jobset.x-k8s.io/train`. */
export function workPath({ namespace, name: qualified }: ObjectKey): string {
  const { qualifier = JOBS.plural, name } = parseQualifiedName(qualified);
  return [NAMESPACES, namespace, qualifier, name].map(encodeURIComponent).join('/');
}
const NAMESPACES = 'namespaces';

/**
 * An object of work as people read it: `JobSet team/train`. One of a kind that is not known has its resource instead of its kind:
 * `jobsets.jobset.x-k8s.io team/train`.
 */
export function formatWork(kind: Pick<WorkKind, 'of'> | undefined, { namespace, name: qualified }: ObjectKey): string {
  const { qualifier, name } = parseQualifiedName(qualified);
  const resource = kind?.of(qualified).resource;
  const known = resource !== undefined && qualifierOf(resource) === qualifier ? wordOfKind(resource) : (qualifier ?? JOBS.kind);
  return `${known} ${namespace}/${name}`;
}

/**
 * A text for people, with the objects of these kinds that it names as {@link formatWork} does: `JobSet team/train`. It may name them by
 * their {@link workKey} as well.
 */
export function withPlainNames(kinds: readonly Pick<SingleKind, 'resource'>[], text: string): string {
  if (kinds.length === 0) return text;
  const words = new Map(kinds.map(({ resource }) => [qualifierOf(resource), wordOfKind(resource)]));
  return text.replaceAll(QUALIFIED_KEY, (whole, namespace: string, qualifier: string, name: string) => {
    const word = words.get(qualifier);
    return word === undefined ? whole : `${word} ${namespace}/${name}`;
  });
}

/** A JSON value for users, with each key of these kinds as a {@link workKey}, and texts as by {@link withPlainNames}. */
export function withWorkKeys<T>(kinds: readonly Pick<SingleKind, 'resource'>[], value: T): T {
  const qualifiers = new Set(kinds.map(({ resource }) => qualifierOf(resource)));
  const isKey = (text: string): boolean =>
    qualifiers.has(parseQualifiedName(text.slice(text.indexOf('/') + 1)).qualifier) && !text.includes(' ');
  const read = (each: unknown): unknown => {
    if (typeof each === 'string') return isKey(each) ? toWorkKey(each) : withPlainNames(kinds, each);
    if (Array.isArray(each)) return each.map(read);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([field, part]) => [field, read(part)]));
  };
  // Only texts have changed.
  return kinds.length === 0 ? value : (read(value) as T);
}

/** Also behind the word Job, which such an object is not. */
const QUALIFIED_KEY = /(?:\bJob )?\b([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)[:/]([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)/g;
const SEPARATOR = ':';
