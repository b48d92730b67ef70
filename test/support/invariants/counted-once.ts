/**
 * Every pod that ended under the eyes of its Job is counted exactly once, and what the counters say happened.
 *
 * The status alone tells who was counted: a UID enters an uncounted list, leaves it when its pod has lost the finalizer, and
 * the counter rises by the number of those that left. An Indexed Job's successes are counted by index.
 */
import type { DeepReadonly, Job, Pod } from '../../../shared/api/kubernetes.ts';
import type { JobChange, PodChange } from '../cluster-history.ts';
import {
  type Circumstances,
  controllerUidOf,
  describeJob,
  givenIndexOf,
  hasCondition,
  indexOf,
  type Invariant,
  isGoing,
  isOver,
  isTracked,
  matchesSelector,
  parseIndexText,
  phaseOf,
} from './invariant.ts';

type JobRecord = {
  job: Job;
  gone: boolean;
  readonly counted: Set<string>;
  /** The Job had, or may have had, more pods than it wanted: some were freed and deleted without being counted. */
  mayDrop: boolean;
  /** The fewest completions the Job ever had: the indexes beyond may have been forgotten. */
  fewest: number;
  readonly indexesEnded: { readonly Succeeded: Set<number>; readonly Failed: Set<number> };
};
type PodRecord = { pod: Pod; tracked: boolean };

export function createCountedOnce(circumstances: Circumstances): Invariant {
  const jobs = new Map<string, JobRecord>();
  const pods = new Map<string, PodRecord>();
  return {
    observe: (change) => (change.kind === 'Job' ? observeJob(change) : observePod(change)),
    atRest: () => [...jobs.values()].filter(({ gone }) => !gone).flatMap(({ job }) => (isOver(job) ? nothingWaits(job) : [])),
  };

  function observeJob({ object: job, previous, gone }: JobChange): string[] {
    const { uid } = job.metadata;
    const record = jobs.get(uid) ?? newRecord(job);
    jobs.set(uid, record);
    record.job = job;
    record.gone = gone;
    record.fewest = Math.min(record.fewest, job.spec.completions ?? Number.POSITIVE_INFINITY);
    if (job.spec.suspend === true || (previous !== undefined && isSmaller(job, previous))) record.mayDrop = true;
    if (previous === undefined) return [];
    return [...entries(record, previous), ...departures(record, previous), ...indexes(record, previous)].map(
      (problem) => `${describeJob(job)}: ${problem}`,
    );
  }

  /** Who has entered an uncounted list, and whether they should be there. */
  function entries({ job, counted }: JobRecord, previous: Job): string[] {
    const [now, before] = [listsOf(job), listsOf(previous)];
    const problems = [...now.succeeded].filter((uid) => now.failed.has(uid)).map((uid) => `pod ${uid} is in both lists`);
    for (const list of ['succeeded', 'failed'] as const) {
      for (const uid of now[list]) {
        if (before[list].has(uid)) continue;
        const pod = pods.get(uid);
        if (counted.has(uid)) problems.push(`pod ${uid} is counted a second time`);
        else if (pod === undefined) problems.push(`pod ${uid} is counted and never was`);
        else if (list === 'succeeded' && phaseOf(pod.pod) !== 'Succeeded')
          problems.push(`pod ${uid} counts as succeeded in phase ${phaseOf(pod.pod)}`);
        else if (list === 'failed' && isIgnoredByExit(job, pod.pod)) problems.push(`pod ${uid} counts as failed, and a rule ignores it`);
        else if (list === 'failed' && !mayCountAsFailed(job, pod))
          problems.push(`pod ${uid} counts as failed in phase ${phaseOf(pod.pod)}`);
      }
    }
    return problems;
  }

  /** Those who have left the lists are counted now, and no others. */
  function departures(record: JobRecord, previous: Job): string[] {
    const { job, counted } = record;
    const [now, before] = [listsOf(job), listsOf(previous)];
    const problems: string[] = [];
    for (const list of ['succeeded', 'failed'] as const) {
      const left = [...before[list]].filter((uid) => !now[list].has(uid));
      for (const uid of left) {
        if (pods.get(uid)?.tracked === true) problems.push(`pod ${uid} is counted while its finalizer is on`);
        counted.add(uid);
      }
      const rise = (job.status?.[list] ?? 0) - (previous.status?.[list] ?? 0);
      const isByIndex = list === 'succeeded' && job.spec.completionMode === 'Indexed';
      if (!isByIndex && rise !== left.length) problems.push(`${list} rose by ${rise} when ${left.length} pods left the list`);
    }
    return problems;
  }

  function indexes({ job, indexesEnded, fewest }: JobRecord, previous: Job): string[] {
    if (job.spec.completionMode !== 'Indexed') return [];
    const [now, before] = [indexesOf(job), indexesOf(previous)];
    const problems: string[] = [];
    for (const [list, phase] of [
      ['completed', 'Succeeded'],
      ['failed', 'Failed'],
    ] as const) {
      for (const index of now[list]) {
        if (!before[list].has(index) && !indexesEnded[phase].has(index))
          problems.push(`index ${index} is ${list} without a pod that ${phase}`);
      }
      // Only a Job that shrank forgets.
      for (const index of before[list]) {
        if (!now[list].has(index) && index < fewest) problems.push(`index ${index} is no longer ${list}`);
      }
    }
    if ((job.status?.succeeded ?? 0) !== now.completed.size) problems.push('succeeded is not the number of completed indexes');
    for (const index of now.completed) if (now.failed.has(index)) problems.push(`index ${index} is both completed and failed`);
    return problems;
  }

  function observePod({ object: pod, previous, gone }: PodChange): string[] {
    const record = pods.get(pod.metadata.uid) ?? { pod, tracked: false };
    pods.set(pod.metadata.uid, record);
    const wasTracked = record.tracked;
    record.pod = pod;
    record.tracked = isTracked(pod) && !gone;
    const owner = jobs.get(controllerUidOf(pod) ?? '');
    if (owner !== undefined) noteOwned(owner, pod, previous);
    if (!wasTracked && record.tracked) for (const { counted } of jobs.values()) counted.delete(pod.metadata.uid);
    if (!wasTracked || record.tracked || previous === undefined) return [];
    const lostBy = jobs.get(controllerUidOf(previous) ?? '');
    if (lostBy === undefined || maybeUncounted(lostBy, record, previous)) return [];
    return [
      `${describeJob(lostBy.job)}: pod ${pod.metadata.name} (${pod.metadata.uid}, ${phaseOf(pod)}) lost its finalizer and is counted nowhere`,
    ];
  }

  function noteOwned(owner: JobRecord, pod: Pod, previous: Pod | undefined): void {
    const { uid } = owner.job.metadata;
    const phase = phaseOf(pod);
    const index = givenIndexOf(pod);
    if ((phase === 'Succeeded' || phase === 'Failed') && index !== undefined) owner.indexesEnded[phase].add(index);
    if (isGoing(pod) && index !== undefined && replacesTerminating(owner.job)) owner.indexesEnded.Failed.add(index);
    const isAdopted = previous !== undefined && controllerUidOf(previous) !== uid;
    // Who succeeds while being deleted makes the one that has replaced it superfluous.
    const isSuperfluous = isGoing(pod) && phase === 'Succeeded';
    if (isAdopted || isSuperfluous || circumstances.doubtfulCreations(uid) > 0) owner.mayDrop = true;
  }

  /** Whether it is right that this pod, which has just lost its finalizer, stands in no list. */
  function maybeUncounted({ job, gone, counted, mayDrop }: JobRecord, { pod }: PodRecord, previous: Pod): boolean {
    const { uid } = pod.metadata;
    const lists = listsOf(job);
    if (counted.has(uid) || lists.succeeded.has(uid) || lists.failed.has(uid)) return true;
    // A Job that goes lets all its pods go, also those that have ended since its cache was filled.
    if (gone || isGoing(job) || isOver(job) || !matchesSelector(job, previous)) return true;
    if (mayDrop || hasCondition(job, 'SuccessCriteriaMet') || isIgnored(job, pod)) return true;
    if (job.spec.completionMode !== 'Indexed') return false;
    const index = indexOf(job, pod);
    if (index === undefined) return true;
    return phaseOf(pod) === 'Succeeded' && indexesOf(job).completed.has(index);
  }

  function newRecord(job: Job): JobRecord {
    return {
      job,
      gone: false,
      counted: new Set(),
      mayDrop: false,
      fewest: Number.POSITIVE_INFINITY,
      indexesEnded: { Succeeded: new Set(), Failed: new Set() },
    };
  }
}

type Lists = { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
function listsOf(job: DeepReadonly<Job>): Lists {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  return { succeeded: new Set(succeeded), failed: new Set(failed) };
}

const indexesOf = ({ status }: DeepReadonly<Job>) => ({
  completed: new Set(parseIndexText(status?.completedIndexes)),
  failed: new Set(parseIndexText(status?.failedIndexes)),
});

const isSmaller = (job: Job, previous: Job): boolean =>
  (job.spec.parallelism ?? 1) < (previous.spec.parallelism ?? 1) || (job.spec.completions ?? 0) < (previous.spec.completions ?? 0);

const nothingWaits = (job: Job): string[] => {
  const { succeeded, failed } = listsOf(job);
  return succeeded.size + failed.size === 0 ? [] : [`${describeJob(job)}: finished with pods that are not counted`];
};

/** Without a policy that asks how a pod ended, one that is being deleted is replaced, and counted, before it has ended. */
const replacesTerminating = ({ spec }: Job): boolean =>
  spec.podReplacementPolicy !== 'Failed' && (spec.podFailurePolicy === undefined || spec.podFailurePolicy === null);

/** A failing Job counts all that it has left as failed. */
const mayCountAsFailed = (job: Job, { pod }: PodRecord): boolean =>
  phaseOf(pod) === 'Failed' || hasCondition(job, 'FailureTarget') || (isGoing(pod) && replacesTerminating(job));

/** Whether a rule of the Job says that this pod's failure does not count: the first rule that matches decides. */
function isIgnored({ spec }: DeepReadonly<Job>, { status }: DeepReadonly<Pod>): boolean {
  const codes = (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.exitCode);
  for (const { action, onExitCodes, onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
    const matches = onExitCodes
      ? codes.some((code) => code !== undefined && code !== 0 && onExitCodes.values.includes(code))
      : (onPodConditions ?? []).some((pattern) => status?.conditions?.some(({ type }) => type === pattern.type));
    if (matches) return action === 'Ignore';
  }
  return false;
}

/** The same where it cannot change any more: by how the pod ended. A failing Job may have counted the pod before that. */
const isIgnoredByExit = (job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): boolean =>
  !hasCondition(job, 'FailureTarget') && isIgnored(job, { ...pod, status: { ...pod.status, conditions: [] } });
