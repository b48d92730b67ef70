import type { Finding } from '../../shared/runtime/violations.ts';
import { parseRequests, type Requests } from '../api/amount.ts';
import { excess } from '../api/job-requests.ts';
import type { AdmissionRecord } from '../api/records.ts';
import type { ShownCopy } from '../api/shown-copy.ts';

/** Invariants of every Job that can be checked on a running system, by the manager's existing caches. */
export const JobInvariant = {
  /** At most one copy of a Job has pods, over all clusters. */
  OneCopyRuns: 'one_copy_runs',
  /** The running pods of a Job request no more than its charge. */
  QuotaCoversPods: 'quota_covers_pods',
  /** Every copy has its Job. */
  NoOrphans: 'no_orphans',
  /**
   * The running copy is as recorded: on its cluster, of its placement, with no more pods at once; no copy runs while the Job is suspended.
   */
  RecordAndCopyAgree: 'record_and_copy_agree',
  /** Admission knows every Job of the manager, and an admitted Job has its copy or reports why not. */
  JobsManaged: 'jobs_managed',
} as const;
export type JobInvariant = (typeof JobInvariant)[keyof typeof JobInvariant];

/**
 * How long a violation may last before it is reported. A status comes home in a moment. A copy that is to be deleted waits for a sweep, a
 * confirmation and the grace period of its pods. A slow cluster delays no other for minutes.
 */
export const JOB_GRACE_MS: Readonly<Record<JobInvariant, number>> = {
  [JobInvariant.OneCopyRuns]: 60_000,
  [JobInvariant.QuotaCoversPods]: 120_000,
  [JobInvariant.NoOrphans]: 600_000,
  [JobInvariant.RecordAndCopyAgree]: 300_000,
  [JobInvariant.JobsManaged]: 600_000,
};

/** Everything known of the Jobs of one name, at one moment. */
export type JobSeen = {
  /** The Job of this name, if the manager manages it; undefined where there is none. */
  readonly job: LocalJobSeen | undefined;
  readonly copies: readonly ShownCopy[];
};
export type LocalJobSeen = {
  readonly uid: string;
  readonly suspended: boolean;
  readonly finished: boolean;
  readonly deleting: boolean;
  /** The last record of admission, as far as it can be trusted; undefined where there is none. */
  readonly record: AdmissionRecord | undefined;
  /** The WorkerCluster that its record names; undefined where it names none. */
  readonly place: string | undefined;
  /** The recorded cluster answers, and serves the namespace of the Job. */
  readonly placeInSight: boolean;
  /** The status reports that the copy of this placement exists. */
  readonly saysDispatched: boolean;
  /** The status reports why there is no copy. */
  readonly saysWhyNot: boolean;
  /** The account of admission. */
  readonly account: Account;
};
/** Unknown: admission does not know the Job. Charges: the Job holds this quota. */
export type Account = { readonly kind: 'Unknown' } | { readonly kind: 'Waits' } | { readonly kind: 'Charges'; readonly held: Requests };

type JobFinding = Finding<JobInvariant>;

/** The violations at this moment. */
export function findingsOfJob(seen: JobSeen): JobFinding[] {
  if (seen.job === undefined && seen.copies.length === 0) return [];
  return [
    ...oneCopyRuns(seen),
    ...seen.copies.filter(({ inSight }) => inSight).flatMap((copy) => findingsOfCopy(seen.job, copy)),
    ...managed(seen),
  ];
}

/** Terminating pods still run. */
const runs = ({ inSight, active, terminating }: ShownCopy): boolean => inSight && active + terminating > 0;

function oneCopyRuns({ copies }: JobSeen): JobFinding[] {
  const running = copies.filter(runs);
  return running.flatMap((copy, index): JobFinding[] => {
    const other = running.find(({ originUid }, position) => position > index && originUid === copy.originUid);
    if (other === undefined) return [];
    const message = `it runs twice: ${placeOf(copy)} and ${placeOf(other)}`;
    return [{ invariant: JobInvariant.OneCopyRuns, mark: `${copy.uid} ${other.uid}`, message }];
  });
}

const placeOf = ({ cluster, epoch, active, terminating }: ShownCopy): string =>
  `on ${cluster} as placement ${epoch} (${active} pods active, ${terminating} stopping)`;

function findingsOfCopy(job: LocalJobSeen | undefined, copy: ShownCopy): JobFinding[] {
  if (job === undefined || job.uid !== copy.originUid) {
    if (copy.deleting) return [];
    const message = `a copy is left ${placeOf(copy)}, and its Job (UID ${copy.originUid}) is gone`;
    return [{ invariant: JobInvariant.NoOrphans, mark: copy.uid, message }];
  }
  // The status of an ended Job came from its copy.
  if (job.finished || job.deleting || copy.deleting) return [];
  return [...charged(job, copy), ...agreeing(job, copy)];
}

function charged({ account }: LocalJobSeen, copy: ShownCopy): JobFinding[] {
  if (copy.active === 0 || copy.running === undefined) return [];
  const charges = account.kind === 'Charges';
  const more = excess(copy.running, charges ? account.held : NOTHING);
  if (more === undefined) return [];
  const message = `what runs ${placeOf(copy)} is ${more} more than ${charges ? 'is charged for it' : 'nothing, which is what is charged for it'}`;
  return [{ invariant: JobInvariant.QuotaCoversPods, mark: copy.uid, message }];
}
const NOTHING: Requests = new Map();

function agreeing(job: LocalJobSeen, copy: ShownCopy): JobFinding[] {
  const problem = disagreement(job, copy);
  return problem === undefined ? [] : [{ invariant: JobInvariant.RecordAndCopyAgree, ...problem, mark: `${copy.uid} ${problem.mark}` }];
}

function disagreement(
  { record, place, suspended, saysDispatched }: LocalJobSeen,
  copy: ShownCopy,
): { readonly mark: string; readonly message: string } | undefined {
  if (runs(copy)) {
    if (record === undefined) return { mark: 'Unrecorded', message: `it runs ${placeOf(copy)} without an admission record` };
    if (copy.cluster !== place || copy.epoch !== record.epoch)
      return {
        mark: 'Elsewhere',
        message: `it runs ${placeOf(copy)}; its record says ${place ?? record.cluster}, placement ${record.epoch}`,
      };
  }
  if (copy.isWritten === true) return undefined;
  if (suspended && !copy.suspended && copy.judged !== true)
    return { mark: 'Awake', message: `it is suspended, and its copy is not: ${placeOf(copy)}` };
  if (record === undefined || copy.cluster !== place || copy.epoch !== record.epoch) return undefined;
  const podsMax = parseRequests(record.requests).get('pods') ?? 0;
  if (!copy.suspended && copy.podsAtOnce > podsMax)
    return { mark: 'Pods', message: `its copy may have ${copy.podsAtOnce} pods at once, its record allows ${podsMax}: ${placeOf(copy)}` };
  // A copy without its objects waits for them, and its Job says why.
  const mayLackObjects = record.carry !== undefined && copy.carried !== true;
  if (!suspended && copy.suspended && !mayLackObjects && copy.fenced !== true && saysDispatched)
    return { mark: 'Asleep', message: `it is admitted and says that it is dispatched, and its copy is suspended: ${placeOf(copy)}` };
  return undefined;
}

function managed({ job, copies }: JobSeen): JobFinding[] {
  if (job === undefined || job.finished || job.deleting) return [];
  const { account, record, placeInSight, place, saysWhyNot, suspended } = job;
  if (account.kind === 'Unknown')
    return [{ invariant: JobInvariant.JobsManaged, mark: 'Unknown', message: 'admission does not know of it: it will never be admitted' }];
  const isAdmitted = !suspended && record !== undefined && record.evicted !== true;
  const hasCopy = copies.some(({ cluster, originUid }) => cluster === place && originUid === job.uid);
  if (!isAdmitted || !placeInSight || hasCopy || saysWhyNot) return [];
  const message = `it was admitted to cluster ${place ?? record.cluster}, has no copy there, and does not say why`;
  return [{ invariant: JobInvariant.JobsManaged, mark: `Undispatched ${record.epoch} ${record.since}`, message }];
}
