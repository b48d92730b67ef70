/** When faults have stopped, every Job has come to the end that its spec and its pods ask for, and the status tells the truth. */
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import type { JobChange, PodChange } from '../cluster-history.ts';
import {
  controllerUidOf,
  describeJob,
  hasCondition,
  type Invariant,
  isActive,
  isGoing,
  isOver,
  isTracked,
  parseIndexText,
  phaseOf,
  hasEnded,
} from './invariant.ts';

type Facts = {
  hadDeadline: boolean;
  /** A finished Job can be resized, too. */
  fewestCompletions: number;
  /** The most that its status ever said. */
  mostSucceeded: number;
  maxRestarts: number;
  readonly exitCodes: Set<number>;
  readonly podConditions: Set<string>;
};

export function createRightEnd(): Invariant {
  const facts = new Map<string, Facts>();
  const factsOf = (uid: string): Facts => {
    const known = facts.get(uid) ?? {
      hadDeadline: false,
      fewestCompletions: Number.POSITIVE_INFINITY,
      mostSucceeded: 0,
      maxRestarts: 0,
      exitCodes: new Set(),
      podConditions: new Set(),
    };
    facts.set(uid, known);
    return known;
  };
  return {
    observe(change) {
      if (change.kind === 'Job') noteJob(change);
      else notePod(change);
      return [];
    },
    atRest({ jobs, pods }) {
      const all = [...pods];
      return [...jobs]
        .flatMap((job) => {
          const own = all.filter((pod) => controllerUidOf(pod) === job.metadata.uid);
          return [...endOf(job), ...countsOf(job, own)].map((problem) => `${describeJob(job)}: ${problem}`);
        })
        .concat(strayFinalizers(all, new Set([...jobs].filter((job) => !isOver(job)).map(({ metadata }) => metadata.uid))));
    },
  };

  function noteJob({ object: job }: JobChange): void {
    const known = factsOf(job.metadata.uid);
    known.fewestCompletions = Math.min(known.fewestCompletions, job.spec.completions ?? 1);
    known.mostSucceeded = Math.max(known.mostSucceeded, job.status?.succeeded ?? 0);
    if (typeof job.spec.activeDeadlineSeconds === 'number') known.hadDeadline = true;
  }

  function notePod({ object: pod }: PodChange): void {
    const uid = controllerUidOf(pod);
    if (uid === undefined) return;
    const known = factsOf(uid);
    for (const { restartCount, state } of pod.status?.containerStatuses ?? []) {
      known.maxRestarts = Math.max(known.maxRestarts, restartCount);
      if (phaseOf(pod) === 'Failed' && state?.terminated !== undefined) known.exitCodes.add(state.terminated.exitCode);
    }
    if (phaseOf(pod) === 'Failed') for (const { type } of pod.status?.conditions ?? []) known.podConditions.add(type);
  }

  function endOf(job: Job): string[] {
    const { spec, status = {} } = job;
    if (typeof spec.managedBy === 'string') return [];
    if (!isOver(job)) return ['has not come to an end'];
    const end = status.conditions?.find(({ type, status: truth }) => truth === 'True' && (type === 'Complete' || type === 'Failed'));
    const known = factsOf(job.metadata.uid);
    const failed = status.failed ?? 0;
    const succeeded = status.succeeded ?? 0;
    const failedIndexes = parseIndexText(status.failedIndexes).length;
    const why = `${end?.type} for ${end?.reason} with ${succeeded} succeeded, ${failed} failed`;
    const interim = end?.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    if (!hasCondition(job, interim)) return [`${end?.type} without ${interim}`];
    if ((end?.type === 'Complete') !== (status.completionTime !== undefined)) return ['completionTime and Complete do not go together'];
    switch (end?.reason) {
      case 'CompletionsReached':
        return succeeded >= known.fewestCompletions ? [] : [why];
      case 'SuccessPolicy':
        // Completions may shrink after the policy was met, and take the indexes that met it along.
        return spec.successPolicy && known.mostSucceeded > 0 ? [] : [why];
      case 'BackoffLimitExceeded':
        return failed > (spec.backoffLimit ?? 6) || known.maxRestarts > 0 ? [] : [why];
      case 'DeadlineExceeded':
        return known.hadDeadline ? [] : [why];
      case 'MaxFailedIndexesExceeded':
        return failedIndexes > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY) ? [] : [why];
      case 'FailedIndexes':
        return failedIndexes > 0 ? [] : [why];
      case 'PodFailurePolicy':
        return isFatal(job, known) ? [] : [why];
      default:
        return [why];
    }
  }

  function isFatal({ spec }: Job, { exitCodes, podConditions }: Facts): boolean {
    return (spec.podFailurePolicy?.rules ?? []).some(
      ({ action, onExitCodes, onPodConditions }) =>
        action === 'FailJob' &&
        (onExitCodes?.values.some((code) => exitCodes.has(code)) || onPodConditions?.some(({ type }) => podConditions.has(type))),
    );
  }
}

/** The status says of the pods what is true of them. */
function countsOf(job: Job, pods: readonly Pod[]): string[] {
  if (typeof job.spec.managedBy === 'string') return [];
  const { active = 0, ready = 0, terminating = 0 } = job.status ?? {};
  const truth = {
    active: pods.filter(isActive).length,
    ready: pods.filter((pod) => isActive(pod) && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
      .length,
    terminating: pods.filter((pod) => isGoing(pod) && !hasEnded(pod)).length,
  };
  return active === truth.active && ready === truth.ready && terminating === truth.terminating
    ? []
    : [`the status says ${JSON.stringify({ active, ready, terminating })}, the pods say ${JSON.stringify(truth)}`];
}

const strayFinalizers = (pods: readonly Pod[], unfinishedJobs: ReadonlySet<string>): string[] =>
  pods
    .filter((pod) => isTracked(pod) && !unfinishedJobs.has(controllerUidOf(pod) ?? ''))
    .map(({ metadata }) => `pod ${metadata.namespace}/${metadata.name} keeps its tracking finalizer, and no Job will ever take it off`);
