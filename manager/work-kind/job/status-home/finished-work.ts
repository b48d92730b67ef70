import type { DeepReadonly, Job, JobSpec, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { indexesBelow, isSubset, sizeOf, textOf, unionOf, without, type Indexes } from '../../../api/index-list.ts';

/** The finished part of a Job's status, which a new copy starts from: work that need not run again, and failures that still count. */
export type FinishedWork = Pick<JobStatus, 'succeeded' | 'failed' | 'completedIndexes' | 'failedIndexes'>;

/**
 * The status that a suspended copy lacks before it may be resumed; undefined when it lacks nothing. The copy lacks work that home knows of
 * when it is new, after a move or a loss, or when its cluster was restored. A copy with pods, or with uncounted pods, is left alone: its
 * status is its own.
 */
export function seedFor(copy: DeepReadonly<Job>, local: DeepReadonly<Job>): FinishedWork | undefined {
  if (copy.spec.suspend !== true || hasLedgerOfItsOwn(copy.status)) return undefined;
  const own = workOf(local.spec, copy.status);
  const all = united(workOf(local.spec, local.status), own);
  // The success count of an Indexed Job follows from its completed indexes.
  const lacks = isIndexed(local.spec) ? !isSubset(all.completed, own.completed) : all.succeeded > own.succeeded;
  if (!lacks && all.failed <= own.failed && isSubset(all.lost, own.lost)) return undefined;
  // The copy may count successes without listing indexes; the API server does not let the counter fall.
  return wireOf({ ...all, succeeded: Math.max(all.succeeded, copy.status?.succeeded ?? 0) }, local.spec);
}

/** Home knows of work that must not run again. */
export const hasFinishedWork = (local: DeepReadonly<Job>): boolean => {
  const { succeeded, failed, completed, lost } = workOf(local.spec, local.status);
  return succeeded > 0 || failed > 0 || completed.length > 0 || lost.length > 0;
};

/**
 * The index lists of a Job at home, from its status at home and that of its copy. Finished indexes stay finished, except beyond the end of
 * an elastic Job that shrinks. When the copy lists all of them, its own text is used.
 */
export function indexListsOf(
  local: DeepReadonly<Job>,
  remote: DeepReadonly<JobStatus>,
): Pick<FinishedWork, 'completedIndexes' | 'failedIndexes'> {
  const told = omitUndefined({ completedIndexes: remote.completedIndexes, failedIndexes: remote.failedIndexes ?? undefined });
  if (!isBehind(local.status, remote)) return told;
  const own = workOf(local.spec, remote);
  const all = united(workOf(local.spec, local.status), own);
  if (isSubset(all.completed, own.completed) && isSubset(all.lost, own.lost)) return told;
  const { completedIndexes, failedIndexes } = wireOf(all, local.spec);
  const lists = (remote.failedIndexes ?? local.status?.failedIndexes ?? undefined) !== undefined;
  return omitUndefined({ completedIndexes, failedIndexes: lists ? failedIndexes : undefined });
}

/** The number of indexes of an Indexed Job that home or the copy lists as complete. */
export const completeIndexes = (local: DeepReadonly<Job>, remote: DeepReadonly<JobStatus>): number =>
  isBehind(local.status, remote) ? united(workOf(local.spec, local.status), workOf(local.spec, remote)).succeeded : (remote.succeeded ?? 0);

/** The copy may lack indexes that home lists. In nearly all cases the list at home is empty, or the same text. */
const isBehind = (home: DeepReadonly<JobStatus> | undefined, remote: DeepReadonly<JobStatus>): boolean =>
  (['completedIndexes', 'failedIndexes'] as const).some((list) => (home?.[list] ?? '') !== '' && home?.[list] !== remote[list]);

/** The status with the uncounted pods of a resting copy counted: its counters will include them, and their result cannot change. */
export function counted(status: DeepReadonly<JobStatus> | undefined, spec: DeepReadonly<JobSpec>): DeepReadonly<JobStatus> | undefined {
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length === 0) return status;
  return {
    ...status,
    succeeded: (status?.succeeded ?? 0) + (isIndexed(spec) ? 0 : succeeded.length),
    failed: (status?.failed ?? 0) + failed.length,
    uncountedTerminatedPods: {},
  };
}

type Work = { readonly succeeded: number; readonly failed: number; readonly completed: Indexes; readonly lost: Indexes };

function workOf(spec: DeepReadonly<JobSpec>, status: DeepReadonly<JobStatus> | undefined): Work {
  const listed = (text: string | null | undefined): Indexes => indexesBelow(text ?? '', spec.completions ?? 0);
  const completed = isIndexed(spec) ? listed(status?.completedIndexes) : [];
  const hasLost = isIndexed(spec) && spec.backoffLimitPerIndex !== undefined && spec.backoffLimitPerIndex !== null;
  return {
    succeeded: isIndexed(spec) ? sizeOf(completed) : isWorkQueue(spec) ? 0 : (status?.succeeded ?? 0),
    failed: status?.failed ?? 0,
    completed,
    lost: hasLost ? without(listed(status?.failedIndexes), completed) : [],
  };
}

/**
 * An index that failed for good on one cluster and succeeded on another has succeeded: the API server accepts an index in one list only.
 */
function united(a: Work, b: Work): Work {
  const completed = unionOf(a.completed, b.completed);
  return {
    succeeded: Math.max(a.succeeded, b.succeeded, sizeOf(completed)),
    failed: Math.max(a.failed, b.failed),
    completed,
    lost: without(unionOf(a.lost, b.lost), completed),
  };
}

const wireOf = ({ succeeded, failed, completed, lost }: Work, { backoffLimitPerIndex }: DeepReadonly<JobSpec>): FinishedWork => ({
  ...(succeeded > 0 ? { succeeded } : {}),
  ...(failed > 0 ? { failed } : {}),
  ...(completed.length > 0 ? { completedIndexes: textOf(completed) } : {}),
  ...(backoffLimitPerIndex === undefined || backoffLimitPerIndex === null ? {} : { failedIndexes: textOf(lost) }),
});

/**
 * To a Job controller one success of a work queue means that no more pods are to start. A moved work queue was interrupted: a copy seeded
 * with a success would be complete without having run, and the items that pods of the last placement had taken would be lost.
 */
const isWorkQueue = ({ completions }: DeepReadonly<JobSpec>): boolean => completions === undefined || completions === null;

const isIndexed = ({ completionMode }: DeepReadonly<JobSpec>): boolean => completionMode === 'Indexed';

function hasLedgerOfItsOwn(status: DeepReadonly<JobStatus> | undefined): boolean {
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;
  return status?.startTime !== undefined || !idle || succeeded.length + failed.length > 0;
}
