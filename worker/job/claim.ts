/**
 * Which pods are the Job's: those it controls and its selector matches. Pods that match and have no controller are
 * adopted, pods that no longer match are released (PodControllerRefManager).
 */
import { JOB_TRACKING_FINALIZER } from '../../shared/api/names.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { JOBS, PODS } from '../../shared/api/resources.ts';
import { isInvalid, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { type LabelRequirements, matchesLabelSelector, requirementsOf } from '../../shared/kube/selectors.ts';
import { FINALIZER_REMOVAL } from './apply.ts';
import type { JobMemory } from './job-memory.ts';
import { controllerOf, ownerlessPods, settledFailedPods, settledPods, unsettledPods } from './pod-cache.ts';
import { ownerReferenceTo } from './pod-template.ts';
import { hasTrackingFinalizer, isDeleting } from './pod-view.ts';

export type ClaimDeps = {
  readonly client: ReadClient & WriteClient;
  readonly pods: Lister<Pod>;
  readonly memory: JobMemory;
};

export type ClaimedPods = {
  readonly pods: readonly DeepReadonly<Pod>[];
  /** UIDs of those adopted just now: the cache shows neither their owner nor their finalizer yet. */
  readonly adopted: ReadonlySet<string>;
};

/**
 * The settled pods are looked at once, and when the labels of one have changed: all that can happen to them is their
 * release. `withFailed`: a rule of the Job asks the failed among them every time.
 */
export async function claimPods(deps: ClaimDeps, job: DeepReadonly<Job>, withFailed: boolean): Promise<ClaimedPods> {
  const { pods, memory } = deps;
  const { uid } = job.metadata;
  const requirements = requirementsOf(job.spec.selector);
  const mayChange = !isDeleting(job);
  const survey = !memory.surveyed.has(uid);
  const settled = survey ? settledPods(pods, job.metadata) : withFailed ? settledFailedPods(pods, job.metadata) : [];
  const owned = [...unsettledPods(pods, job.metadata), ...settled];
  const claimed = owned.filter((pod) => matchesLabelSelector(requirements, pod.metadata.labels));
  const strangers = claimed.length < owned.length ? owned.filter((pod) => !matchesLabelSelector(requirements, pod.metadata.labels)) : [];
  const strays = mayChange ? strangers : strangers.filter(hasTrackingFinalizer);
  const letGo = mayChange ? release : free;
  const orphans = mayChange ? findAdoptable(pods, job, requirements) : [];
  // Settled ones are marked before the first await: labels that change meanwhile take the mark away again.
  if (survey) memory.surveyed.add(uid);
  if (strays.length === 0 && orphans.length === 0) return { pods: claimed, adopted: new Set() };
  try {
    const [adopted] = await Promise.all([adoptAll(deps, job, orphans), settleAll(strays.map((pod) => letGo(deps, job, pod)))]);
    return { pods: [...claimed, ...adopted], adopted: new Set(adopted.map((pod) => pod.metadata.uid)) };
  } catch (error) {
    memory.surveyed.delete(uid);
    throw error;
  }
}

const findAdoptable = (pods: Lister<Pod>, job: DeepReadonly<Job>, requirements: LabelRequirements): DeepReadonly<Pod>[] =>
  ownerlessPods(pods, job.metadata.namespace).filter((pod) => !isDeleting(pod) && matchesLabelSelector(requirements, pod.metadata.labels));

async function adoptAll(deps: ClaimDeps, job: DeepReadonly<Job>, orphans: readonly DeepReadonly<Pod>[]): Promise<DeepReadonly<Pod>[]> {
  if (orphans.length === 0) return [];
  await recheckJob(deps.client, job);
  const adopted = await settleAll(orphans.map((pod) => adopt(deps, job, pod)));
  return adopted.flatMap((pod) => pod ?? []);
}

/** The cache may not know yet that the Job is being deleted, or is another one: a Job that goes must not take pods. */
async function recheckJob(client: ReadClient, job: DeepReadonly<Job>): Promise<void> {
  const { namespace, name, uid } = job.metadata;
  let live: Job;
  try {
    live = await client.get(JOBS, { namespace, name });
  } catch (error) {
    throw new Error(`can't recheck DeletionTimestamp of job ${namespace}/${name}`, { cause: error });
  }
  if (live.metadata.uid !== uid) {
    throw new Error(
      `can't recheck DeletionTimestamp: original Job ${namespace}/${name} is gone: got uid ${live.metadata.uid}, wanted ${uid}`,
    );
  }
  if (isDeleting(live)) throw new Error(`${namespace}/${name} has just been deleted at ${live.metadata.deletionTimestamp}`);
}

/** Owner and finalizer come in one call: a pod is never owned and untracked. A pod that is gone is not adopted. */
async function adopt(deps: ClaimDeps, job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): Promise<DeepReadonly<Pod> | undefined> {
  const { namespace, name, uid } = pod.metadata;
  const body = { metadata: { ownerReferences: [ownerReferenceTo(job)], uid, finalizers: [JOB_TRACKING_FINALIZER] } };
  try {
    const patched = await deps.client.patch(PODS, { namespace, name }, { type: 'strategic', body });
    deps.memory.written.record(job.metadata.uid, 'pods', patched.metadata.resourceVersion);
    return pod;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new Error(`can't adopt Pod ${namespace}/${name} (${uid})`, { cause: error });
  }
}

/** A pod that is gone, or has no such owner any more, is released already. */
async function release(deps: ClaimDeps, job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  const body = {
    metadata: {
      uid,
      ownerReferences: [{ $patch: 'delete', uid: job.metadata.uid }],
      '$deleteFromPrimitiveList/finalizers': [JOB_TRACKING_FINALIZER],
    },
  };
  try {
    const patched = await deps.client.patch(PODS, { namespace, name }, { type: 'strategic', body });
    const owner = controllerOf(patched);
    if (owner !== undefined) deps.memory.written.record(owner.uid, 'pods', patched.metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error) && !isInvalid(error)) throw new Error(`release pod ${namespace}/${name}`, { cause: error });
  }
}

/** UPSTREAM.md Q23: a Job that is being deleted keeps its pods, but who is not its own must not stay for want of somebody to count it. */
async function free(deps: ClaimDeps, job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): Promise<void> {
  const { namespace, name } = pod.metadata;
  try {
    const patched = await deps.client.patch(PODS, { namespace, name }, { type: 'strategic', body: FINALIZER_REMOVAL });
    deps.memory.written.record(job.metadata.uid, 'pods', patched.metadata.resourceVersion);
  } catch (error) {
    if (!isNotFound(error)) throw new Error(`free pod ${namespace}/${name}`, { cause: error });
  }
}

/** Waits for all, so that nothing is under way any more when the first error is thrown. */
async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} pods could not be claimed or released`);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
