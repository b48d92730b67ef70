/** One look at a Job and its pods, all at one moment but for what adopting pods takes. */
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { type ClaimDeps, claimPods } from './claim.ts';
import type { Observation } from './decide.ts';
import { untilStopped } from './fenced-job.ts';
import type { JobView } from './job-view.ts';
import { viewPod } from './pod-view.ts';

export async function observe(deps: ClaimDeps, job: DeepReadonly<Job>, view: JobView): Promise<Observation> {
  const { memory } = deps;
  // Both before the pods are read: a pod that comes in between is then counted in the next sync, rather than created
  // or counted twice in this one.
  const satisfied = memory.expectations.satisfied(view.uid);
  const removalPending = new Set(memory.finalizerExpectations.pending(view.uid));
  const { pods, adopted } = await claimPods(deps, job, { withFailed: mayFailByPod(view), mayAdopt: !view.denied });
  const views = pods.map((pod) =>
    viewPod(pod, {
      onlyReplaceFailed: view.replacesFailedOnly,
      adopted: adopted.has(pod.metadata.uid),
      removalPending: removalPending.has(pod.metadata.uid),
    }),
  );
  return {
    job: untilStopped(view, views),
    pods: views,
    satisfied,
    backoff: memory.backoff(view.uid),
    endBegun: memory.endsBegun.get(view.uid),
  };
}

/** A FailJob rule is asked about every pod of the Job, also those that are counted already. */
const mayFailByPod = (view: JobView): boolean => view.podFailurePolicy?.rules?.some(({ action }) => action === 'FailJob') ?? false;
