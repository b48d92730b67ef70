/** No Job has more pods at work than it may have, no index has two, and nothing is created for a Job that is at its end. */
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import type { JobChange, PodChange } from '../cluster-history.ts';
import {
  type Circumstances,
  controllerUidOf,
  describeJob,
  hasCondition,
  indexOf,
  type Invariant,
  isActive,
  isTracked,
  parseIndexText,
  phaseOf,
} from './invariant.ts';

type JobRecord = {
  job: Job;
  /** The most it ever could have: a worker may act on a spec that has changed since. */
  parallelismMax: number;
  completionsMax: number;
  adopted: number;
  /** Pods it has, by UID. */
  readonly pods: Map<string, Pod>;
};

export function createNeverTooMany(circumstances: Circumstances): Invariant {
  const jobs = new Map<string, JobRecord>();
  return {
    observe: (change) => (change.kind === 'Job' ? observeJob(change) : observePod(change)),
    atRest: () => [],
  };

  function observeJob({ object: job }: JobChange): string[] {
    const { uid } = job.metadata;
    const record = jobs.get(uid) ?? { job, parallelismMax: 0, completionsMax: 0, adopted: 0, pods: new Map<string, Pod>() };
    jobs.set(uid, record);
    record.job = job;
    record.parallelismMax = Math.max(record.parallelismMax, job.spec.parallelism ?? 1);
    record.completionsMax = Math.max(record.completionsMax, job.spec.completions ?? Number.POSITIVE_INFINITY);
    return [];
  }

  function observePod({ object: pod, previous, gone }: PodChange): string[] {
    const uid = controllerUidOf(pod);
    for (const [jobUid, record] of jobs) if (jobUid !== uid) record.pods.delete(pod.metadata.uid);
    const record = jobs.get(uid ?? '');
    if (record === undefined) return [];
    if (gone) record.pods.delete(pod.metadata.uid);
    else record.pods.set(pod.metadata.uid, pod);
    if (previous !== undefined && controllerUidOf(previous) !== uid) record.adopted++;
    if (previous !== undefined || !isTracked(pod)) return [];
    return problemsOfCreation(record, pod).map((problem) => `${describeJob(record.job)}: created ${pod.metadata.name}, but ${problem}`);
  }

  function problemsOfCreation({ job, parallelismMax, completionsMax, adopted, pods }: JobRecord, created: Pod): string[] {
    const spare = circumstances.doubtfulCreations(job.metadata.uid) + adopted;
    const active = [...pods.values()].filter((pod) => isActive(pod) && isTracked(pod));
    // What the worker does not know, and has not seen yet, it cannot heed.
    const isStatusKnown = spare === 0 && !circumstances.isStatusInDoubt(job.metadata.uid);
    const problems: string[] = [];
    if (active.length > parallelismMax + spare)
      problems.push(`${active.length} pods are active and parallelism was at most ${parallelismMax}`);
    // A creation that was given up may come at any time, also when the Job is over.
    if (isStatusKnown && hasCondition(job, 'Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'))
      problems.push('the Job is at its end');
    if (job.spec.managedBy !== undefined && job.spec.managedBy !== null) problems.push('the Job is not ours');
    const index = indexOf(job, created);
    if (index !== undefined) {
      const rivals = active.filter((pod) => pod !== created && indexOf(job, pod) === index);
      if (rivals.length > spare) problems.push(`index ${index} runs already`);
      if (isStatusKnown && parseIndexText(job.status?.completedIndexes).includes(index)) problems.push(`index ${index} is complete`);
      if (isStatusKnown && parseIndexText(job.status?.failedIndexes).includes(index)) problems.push(`index ${index} has failed`);
    } else {
      // One that is deleted counts as failed and is replaced as soon as that is seen; that it succeeds after all may be seen later.
      const isSuccess = (pod: Pod): boolean =>
        isTracked(pod) && phaseOf(pod) === 'Succeeded' && pod.metadata.deletionTimestamp === undefined;
      const succeeded = [...pods.values()].filter(isSuccess).length;
      const counted = job.status?.succeeded ?? 0;
      const waiting = job.status?.uncountedTerminatedPods?.succeeded?.filter((uid) => !isTracked(pods.get(uid) ?? created)).length ?? 0;
      if (active.length + succeeded + counted + waiting > completionsMax + spare) {
        problems.push(`${active.length} active and ${succeeded + counted + waiting} succeeded are more than ${completionsMax} completions`);
      }
    }
    return problems;
  }
}
