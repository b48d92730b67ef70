import type { Job, ObjectKey } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { ApiError, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { ClusterConnection, JobClient } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { listWork } from '../list-work.ts';
import { plain } from '../plain-text.ts';
import type { NamedJob } from './operands.ts';
import { formatWork, parseQualifiedName, qualifiedName, qualifierOf, wordOf, wordOfName } from '../../work-kind/qualified-name.ts';
import type { SingleKind, WorkKind } from '../../work-kind/work-kind.ts';
import { isWordFor, namesOf, noKind } from '../work-kinds.ts';

export type JobChoice = {
  /** Empty: those that the selector chooses. */
  readonly jobs: readonly NamedJob[];
  readonly namespace: string;
  readonly everywhere: boolean;
  readonly selector: string | undefined;
};

export type MissingJob = { readonly job: string; readonly why: string };

/** An object that was named, the key and the client by which it is known. */
export type FoundJob = {
  readonly job: Job | undefined;
  readonly key: ObjectKey;
  readonly by: JobClient;
  /** Of one that is missing: the kinds that the manager takes, of which the word before the slash, read as a namespace, is none. */
  readonly kinds?: readonly SingleKind[];
};

/**
 * Looks for the Job that is named `NAME` or `NAMESPACE/NAME`, or the object of another kind that is named `KIND/NAME`: what stands before
 * the slash is a kind if it has a dot, or if there is no such Job and it is the word for one. Throws CommandError for a kind that the
 * manager does not take, and for users who may not list WorkKinds where they must be known.
 */
export async function findJob(
  { client, kind, kinds }: Pick<ClusterConnection, 'client' | 'kind' | 'kinds'>,
  { namespace: first, name }: NamedJob,
  namespace: string,
): Promise<FoundJob> {
  const key = { namespace: first ?? namespace, name };
  const missing = { job: undefined, key, by: { client, kind } };
  let refusal: ApiError | undefined;
  if (first?.includes('.') !== true) {
    try {
      return { ...missing, job: await client.get(kind.resource, key) };
    } catch (error) {
      if (first === undefined && isNotFound(error)) return missing;
      // Of a namespace that does not exist nothing may be read.
      if (first === undefined || !(error instanceof ApiError) || !(isNotFound(error) || isForbidden(error))) throw error;
      refusal = error;
    }
  }
  const by = await kinds().catch((error: unknown) => {
    if (refusal === undefined || !(error instanceof CommandError)) throw error;
    return undefined;
  });
  const other = by?.kind.others.find(({ resource }) => isWordFor(resource, first ?? ''));
  if (by === undefined || other === undefined) {
    const taken = by && [by.kind.of(undefined) as SingleKind, ...by.kind.others];
    if (isNotFound(refusal)) return { ...missing, ...omitUndefined({ kinds: taken }) };
    throw refusal ?? new CommandError(noKind('JOB', first ?? '', taken ?? []));
  }
  const own = { namespace, name: qualifiedName(qualifierOf(other.resource), name) };
  const job = await by.client.get(by.kind.resource, own).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return { job, key: own, by };
}

/** Says that there is no such object. */
export const noSuchJob = (found: FoundJob): string =>
  `there is no ${plain(wordFor(found))} ${plain(parseQualifiedName(found.key.name).name)} in namespace ${plain(found.key.namespace)}${noSuchKind(found)}`;

const wordFor = ({ key, by }: FoundJob): string => wordOfName(by.kind, key.name);

/** A word that was read as a namespace may have been meant as a kind. */
export const noSuchKind = ({ key, kinds = [] }: Pick<FoundJob, 'key' | 'kinds'>): string =>
  kinds.length < 2 ? '' : `, and ${plain(key.namespace)} is none of the kinds ${namesOf(kinds)}`;

/** `unread`: why objects of a kind were not looked at, of those that a selector chooses. */
export type ReadJobs = {
  readonly found: readonly Job[];
  readonly missing: readonly MissingJob[];
  readonly unread: readonly string[];
  readonly by: JobClient;
};

/**
 * The Jobs and objects of other kinds that are meant, which are Switchyard's, and those that are named and do not exist. Throws
 * CommandError for a named one that is not Switchyard's.
 */
export async function readJobs(
  connection: Pick<ClusterConnection, 'client' | 'kind' | 'kinds'>,
  { jobs, namespace, everywhere, selector }: JobChoice,
): Promise<ReadJobs> {
  if (jobs.length === 0) return chosenBy(connection, selector, everywhere ? '' : namespace);
  const read = await Promise.all(jobs.map((job) => findJob(connection, job, namespace)));
  // A client of all kinds reads and writes Jobs as well.
  const by = read.find((each) => each.by.kind.others.length > 0)?.by ?? connection;
  const found = read.flatMap(({ job }) => job ?? []);
  const foreign = found.find((job) => !isOurs(by.kind, job));
  if (foreign === undefined) {
    const missing = read.flatMap((each): MissingJob[] =>
      each.job === undefined
        ? [{ job: keyOf({ metadata: each.key, kind: wordFor(each) }), why: `there is no such ${plain(wordFor(each))}${noSuchKind(each)}` }]
        : [],
    );
    return { found, missing, unread: [], by };
  }
  throw new CommandError(
    `${described(by.kind, foreign)} is not Switchyard’s: its spec.managedBy names ${plain(by.kind.controllerOf(foreign) ?? 'nobody')}; kubectl looks after it. Nothing was done`,
  );
}

/** Objects with the labels, of every kind; Jobs alone for users who may not list WorkKinds. */
async function chosenBy(
  connection: Pick<ClusterConnection, 'client' | 'kind' | 'kinds'>,
  labelSelector: string | undefined,
  namespace: string,
): Promise<ReadJobs> {
  const { objects, by, unread } = await listWork(connection, { namespace, ...omitUndefined({ labelSelector }) });
  return {
    found: objects.filter((job) => isOurs(by.kind, job)),
    missing: [],
    unread: unread.map(({ plural, why }) => `no ${plural} were looked at: ${why}`),
    by,
  };
}

const isOurs = (kind: WorkKind<Job>, job: Job): boolean => kind.controllerOf(job) === MANAGER_CONTROLLER_NAME;

const described = (kind: WorkKind<Job>, { metadata }: Pick<Job, 'metadata'>): string => plain(formatWork(kind, metadata));

/** `team/train`, and of another kind than Job `JobSet team/train`; its resource, where the object has no `kind`. */
export function keyOf({ metadata, kind }: { readonly metadata: ObjectKey; readonly kind?: string }): string {
  const { qualifier, name } = parseQualifiedName(metadata.name);
  return plain(`${qualifier === undefined ? '' : `${wordOf(qualifier, kind)} `}${metadata.namespace}/${name}`);
}
