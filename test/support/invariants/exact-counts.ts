/**
 * The truth about failures and successes, known from the pods themselves and not from the lists in the status. No Job is given up
 * for failures that it has not had, and at rest the counters are the true numbers. The latter is held against
 * Jobs of which no pod may be dropped: never suspended, shrunk or deleted, with no pod adopted, released or created in doubt.
 */
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import type { JobChange, PodChange } from '../cluster-history.ts';
import {
  type Circumstances,
  controllerUidOf,
  describeJob,
  hasCondition,
  hasEnded,
  type Invariant,
  isGoing,
  isOver,
  isTracked,
  matchesSelector,
  phaseOf,
} from './invariant.ts';

type JobRecord = {
  mayDrop: boolean;
  /** The last version of each pod with the finalizer on, by UID. */
  readonly pods: Map<string, Pod>;
};
/** What a counter may be. Mostly both ends are the same; how a pod was counted that ended while it was deleted is a matter of time. */
type Range = { readonly least: number; readonly most: number };

export function createExactCounts(circumstances: Circumstances): Invariant {
  const records = new Map<string, JobRecord>();
  const recordOf = (uid: string): JobRecord => {
    const record = records.get(uid) ?? { mayDrop: false, pods: new Map<string, Pod>() };
    records.set(uid, record);
    return record;
  };
  return {
    observe(change) {
      if (change.kind === 'Pod') notePod(change);
      else noteJob(change);
      return change.kind === 'Job' ? givenUpTooSoon(change) : [];
    },
    atRest: ({ jobs, pods }) => [...jobs].filter(isOver).flatMap((job) => compare(job, [...pods])),
  };

  function noteJob({ object: job, previous }: JobChange): void {
    if (job.spec.suspend === true || isGoing(job) || (previous !== undefined && isSmaller(job, previous))) {
      recordOf(job.metadata.uid).mayDrop = true;
    }
  }

  /** Later the pods that a failing Job deletes are among the failed: what led to the end can only be told now. */
  function givenUpTooSoon({ object: job, previous }: JobChange): string[] {
    if (!isPastBackoffLimit(job) || (previous !== undefined && isPastBackoffLimit(previous))) return [];
    if (job.spec.template.spec?.restartPolicy === 'OnFailure') return [];
    const { backoffLimit = 6 } = job.spec;
    const pods = [...recordOf(job.metadata.uid).pods.values()];
    const failures = pods.filter((pod) => (phaseOf(pod) === 'Failed' || isDeletedByOthers(pod)) && isIgnored(job, pod) !== 'yes').length;
    return failures > backoffLimit
      ? []
      : [`${describeJob(job)}: past its backoffLimit ${backoffLimit} with ${failures} failures that count`];
  }

  /** Whom the worker itself has deleted was no failure before the Job was at its end. */
  function isDeletedByOthers(pod: Pod): boolean {
    return (
      isGoing(pod) && circumstances.deletions(pod.metadata.namespace, pod.metadata.name).every(({ failedMs }) => failedMs !== undefined)
    );
  }

  function notePod({ object: pod, previous }: PodChange): void {
    const [uid, before] = [controllerUidOf(pod), previous && controllerUidOf(previous)];
    if (previous !== undefined && uid !== before) for (const each of [uid, before]) if (each !== undefined) recordOf(each).mayDrop = true;
    if (uid !== undefined && isTracked(pod)) recordOf(uid).pods.set(pod.metadata.uid, pod);
  }

  function compare(job: Job, existing: readonly Pod[]): string[] {
    const { uid } = job.metadata;
    const { mayDrop, pods } = recordOf(uid);
    const own = [...pods.values()];
    const isRelabelled = [...own, ...existing.filter((pod) => controllerUidOf(pod) === uid)].some((pod) => !matchesSelector(job, pod));
    // Who succeeds while being deleted may make the one that has replaced it superfluous.
    const isSuperfluous = own.some((pod) => isGoing(pod) && phaseOf(pod) === 'Succeeded');
    if (mayDrop || isRelabelled || isSuperfluous || circumstances.doubtfulCreations(uid) > 0) return [];
    const { succeeded = 0, failed = 0 } = job.status ?? {};
    const problems = beyond(
      'failed',
      failed,
      rangeOf(own, (pod) => countsAsFailed(job, pod)),
    );
    if (job.spec.completionMode !== 'Indexed')
      problems.push(
        ...beyond(
          'succeeded',
          succeeded,
          rangeOf(own, (pod) => countsAsSucceeded(job, pod)),
        ),
      );
    return problems.map((problem) => `${describeJob(job)}: ${problem}`);
  }
}

const isPastBackoffLimit = ({ status }: Job): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'FailureTarget' && reason === 'BackoffLimitExceeded') ?? false;

function beyond(counter: string, value: number, { least, most }: Range): string[] {
  if (value >= least && value <= most) return [];
  return [`${counter} is ${value}, and the pods say ${least === most ? least : `${least} to ${most}`}`];
}

type Answer = 'yes' | 'no' | 'either';
function rangeOf(pods: readonly Pod[], ask: (pod: Pod) => Answer): Range {
  const answers = pods.map(ask);
  const least = answers.filter((answer) => answer === 'yes').length;
  return { least, most: least + answers.filter((answer) => answer === 'either').length };
}

/** A failing Job counts as failed what it saw at work, however that ended afterwards. */
function countsAsSucceeded(job: Job, pod: Pod): Answer {
  if (phaseOf(pod) !== 'Succeeded') return 'no';
  return hasCondition(job, 'FailureTarget') ? 'either' : 'yes';
}

function countsAsFailed(job: Job, pod: Pod): Answer {
  const isFailing = hasCondition(job, 'FailureTarget');
  if (phaseOf(pod) === 'Succeeded') return isFailing ? 'either' : 'no';
  const ignored = isIgnored(job, pod);
  if (ignored === 'either' || (ignored === 'yes' && isFailing)) return 'either';
  if (ignored === 'yes') return 'no';
  if (isFailing) return 'yes';
  // A Job that is complete lets go of those that are still on their way out; some had seen them end.
  return hasCondition(job, 'SuccessCriteriaMet') && (isGoing(pod) || !hasEnded(pod)) ? 'either' : 'yes';
}

/** Whether a rule ignores how this pod ended. A rule about conditions may have been asked before the condition was there. */
function isIgnored({ spec }: Job, { status }: Pod): Answer {
  for (const { action, onExitCodes } of spec.podFailurePolicy?.rules ?? []) {
    if (!onExitCodes) return 'either';
    const codes = (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.exitCode ?? 0);
    if (codes.some((code) => code !== 0 && onExitCodes.values.includes(code))) return action === 'Ignore' ? 'yes' : 'no';
  }
  return 'no';
}

const isSmaller = ({ spec }: Job, { spec: before }: Job): boolean =>
  (spec.parallelism ?? 1) < (before.parallelism ?? 1) || (spec.completions ?? 0) < (before.completions ?? 0);
