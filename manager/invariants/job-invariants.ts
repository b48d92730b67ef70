import type { Finding } from '../../shared/runtime/violations.ts';
import { parseRequests, type Requests } from '../api/amount.ts';
import { excess } from '../api/job-requests.ts';
import type { AdmissionRecord } from '../api/records.ts';
import type { ShownCopy } from '../api/shown-copy.ts';

/** What is promised of every Job and can be seen on a running system, in what the manager has in its caches anyway. */
export const JobInvariant = {
  /** Of each Job at most one copy has pods, over all clusters. */
  OneCopyRuns: 'one_copy_runs',
  /** What runs of a Job requests no more than is charged for it. */
  QuotaCoversPods: 'quota_covers_pods',
  /** Every copy has its Job. */
  NoOrphans: 'no_orphans',
  /** What runs is what the record says: on its cluster, of its placement, with no more pods at once, and nothing while the Job is suspended. */
  RecordAndCopyAgree: 'record_and_copy_agree',
  /** Every Job that is the manager's is known to admission, and one that is admitted has its copy or says why not. */
  JobsManaged: 'jobs_managed',
} as const;
export type JobInvariant = (typeof JobInvariant)[keyof typeof JobInvariant];

/**
 * How long it may look otherwise. A status comes home in a moment; a copy that is to go waits for a sweep, a confirmation and the grace period of its pods;
 * and one cluster that is slow delays nobody for minutes.
 */
export const JOB_GRACE_MS: Readonly<Record<JobInvariant, number>> = {
  [JobInvariant.OneCopyRuns]: 60_000,
  [JobInvariant.QuotaCoversPods]: 120_000,
  [JobInvariant.NoOrphans]: 600_000,
  [JobInvariant.RecordAndCopyAgree]: 300_000,
  [JobInvariant.JobsManaged]: 600_000,
};

/** All that is known of the Jobs of one name, at one moment. */
export type JobSeen = {
  /** The Job of this name, where it is the manager's; undefined where there is none. */
  readonly job: LocalJobSeen | undefined;
  readonly copies: readonly ShownCopy[];
};
export type LocalJobSeen = {
  readonly uid: string;
  readonly suspended: boolean;
  readonly finished: boolean;
  readonly deleting: boolean;
  /** What admission last decided, as far as that can be trusted; undefined where that is not known. */
  readonly record: AdmissionRecord | undefined;
  /** The WorkerCluster that its record leads to; undefined where none does. */
  readonly place: string | undefined;
  /** That one answers, and takes the Jobs of this namespace. */
  readonly placeInSight: boolean;
  /** It says that its copy is there, for this placement. */
  readonly saysDispatched: boolean;
  /** It says why there is no copy. */
  readonly saysWhyNot: boolean;
  /** What admission makes of it. */
  readonly account: Account;
};
/** Unknown: it has never heard of it. Charges: quota is held for it, so much. */
export type Account = { readonly kind: 'Unknown' } | { readonly kind: 'Waits' } | { readonly kind: 'Charges'; readonly held: Requests };

type JobFinding = Finding<JobInvariant>;

/** What is not as promised, at this moment. */
export function findingsOfJob(seen: JobSeen): JobFinding[] {
  if (seen.job === undefined && seen.copies.length === 0) return [];
  return [
    ...oneCopyRuns(seen),
    ...seen.copies.filter(({ inSight }) => inSight).flatMap((copy) => findingsOfCopy(seen.job, copy)),
    ...managed(seen),
  ];
}

/** Pods that stop run until they have stopped. */
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
  // The status of a Job that has ended was told by its copy.
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
  if (suspended && !copy.suspended) return { mark: 'Awake', message: `it is suspended, and its copy is not: ${placeOf(copy)}` };
  if (record === undefined || copy.cluster !== place || copy.epoch !== record.epoch) return undefined;
  const podsMax = parseRequests(record.requests).get('pods') ?? 0;
  if (!copy.suspended && copy.podsAtOnce > podsMax)
    return { mark: 'Pods', message: `its copy may have ${copy.podsAtOnce} pods at once, its record allows ${podsMax}: ${placeOf(copy)}` };
  if (!suspended && copy.suspended && saysDispatched)
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
