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
import { allOrThrow } from '../../shared/runtime/tasks.ts';
import { JobDeletingError, JobGoneError } from './job-gone.ts';
import type { JobMemory } from './job-memory.ts';
import { ownerlessPods, countedFailedPods, countedPods, uncountedPods } from './pod-cache.ts';
import { ownerReferenceTo } from './pod-template.ts';
import { hasTrackingFinalizer, isDeleting } from './pod-view.ts';
import { removeTrackingFinalizer, WITHOUT_TRACKING_FINALIZER } from './tracking-finalizer.ts';
import { recordPodWrite } from './written-versions.ts';

export type ClaimDeps = {
  readonly client: ReadClient & WriteClient;
  readonly pods: Lister<Pod>;
  readonly memory: JobMemory;
};

export type ClaimRules = {
  /** A rule of the Job asks the failed among the counted pods every time. */
  readonly withFailed: boolean;
  /** Whether it gets pods that match and have no controller. */
  readonly mayAdopt: boolean;
};

export type ClaimedPods = {
  readonly pods: readonly DeepReadonly<Pod>[];
  /** UIDs of those adopted just now: the cache shows neither their owner nor their finalizer yet. */
  readonly adopted: ReadonlySet<string>;
};

/**
 * The counted pods are looked at once, and when the labels of one have changed: all that can happen to them is their
 * release.
 */
export async function claimPods(deps: ClaimDeps, job: DeepReadonly<Job>, { withFailed, mayAdopt }: ClaimRules): Promise<ClaimedPods> {
  const { pods, memory } = deps;
  const { uid } = job.metadata;
  const requirements = requirementsOf(job.spec.selector);
  const mayChange = !isDeleting(job);
  const survey = !memory.surveyed.has(uid);
  const counted = survey ? countedPods(pods, job.metadata) : withFailed ? countedFailedPods(pods, job.metadata) : [];
  const owned = [...uncountedPods(pods, job.metadata), ...counted];
  const claimed = owned.filter((pod) => matchesLabelSelector(requirements, pod.metadata.labels));
  const notMatching = claimed.length < owned.length ? owned.filter((pod) => !matchesLabelSelector(requirements, pod.metadata.labels)) : [];
  const toRelease = mayChange ? notMatching : notMatching.filter(hasTrackingFinalizer);
  const letGo = mayChange ? release : removeFinalizer;
  const orphans = mayChange && mayAdopt ? findAdoptable(pods, job, requirements) : [];
  // Counted ones are marked before the first await: labels that change meanwhile take the mark away again.
  if (survey) memory.surveyed.add(uid);
  if (toRelease.length === 0 && orphans.length === 0) return { pods: claimed, adopted: new Set() };
  try {
    const [adopted] = await Promise.all([
      adoptAll(deps, job, orphans),
      allOrThrow(
        toRelease.map((pod) => letGo(deps, pod, job)),
        UNCLAIMED,
      ),
    ]);
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
  const adopted = await allOrThrow(
    orphans.map((pod) => adopt(deps, job, pod)),
    UNCLAIMED,
  );
  return adopted.flatMap((pod) => pod ?? []);
}

/** The cache may not know yet that the Job is being deleted, or is another one: a Job that goes must not take pods. */
async function recheckJob(client: ReadClient, job: DeepReadonly<Job>): Promise<void> {
  const { namespace, name, uid } = job.metadata;
  let live: Job;
  try {
    live = await client.get(JOBS, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) throw new JobGoneError(`job ${namespace}/${name} is gone`, { cause: error });
    throw new Error(`can't recheck DeletionTimestamp of job ${namespace}/${name}`, { cause: error });
  }
  if (live.metadata.uid !== uid) {
    throw new JobGoneError(`original Job ${namespace}/${name} is gone: got uid ${live.metadata.uid}, wanted ${uid}`);
  }
  if (isDeleting(live)) throw new JobDeletingError(`${namespace}/${name} has just been deleted at ${live.metadata.deletionTimestamp}`);
}

/** Owner and finalizer come in one call: a pod is never owned and untracked. A pod that is gone, or goes, is not adopted. */
async function adopt(deps: ClaimDeps, job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): Promise<DeepReadonly<Pod> | undefined> {
  const { namespace, name, uid } = pod.metadata;
  const body = { metadata: { ownerReferences: [ownerReferenceTo(job)], uid, finalizers: [JOB_TRACKING_FINALIZER] } };
  try {
    const patched = await deps.client.patch(PODS, { namespace, name }, { type: 'strategic', body });
    deps.memory.written.record(job.metadata.uid, 'pods', patched.metadata.resourceVersion);
    return pod;
  } catch (error) {
    if (isNotFound(error) || tellsPodGoes(error)) return undefined;
    throw new Error(`can't adopt Pod ${namespace}/${name} (${uid})`, { cause: error });
  }
}

/** Another pod has this name by now, or the pod is being deleted and may get no finalizer any more. */
const tellsPodGoes = (error: unknown): boolean =>
  isInvalid(error) && (error.status.details?.causes ?? []).some(({ field }) => field === 'metadata.uid' || field === 'metadata.finalizers');

/** A pod that is gone, or has no such owner any more, is released already. */
async function release(deps: ClaimDeps, pod: DeepReadonly<Pod>, job: DeepReadonly<Job>): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  const body = {
    metadata: {
      uid,
      ownerReferences: [{ $patch: 'delete', uid: job.metadata.uid }],
      ...WITHOUT_TRACKING_FINALIZER,
    },
  };
  try {
    const patched = await deps.client.patch(PODS, { namespace, name }, { type: 'strategic', body });
    recordPodWrite(deps.memory.written, patched);
  } catch (error) {
    if (!isNotFound(error) && !isInvalid(error)) throw new Error(`release pod ${namespace}/${name}`, { cause: error });
  }
}

/** UPSTREAM.md Q23: a Job that is being deleted keeps its pods, but what is not its own must not stay for want of somebody to count it. */
async function removeFinalizer({ client, memory }: ClaimDeps, pod: DeepReadonly<Pod>): Promise<void> {
  const freed = await removeTrackingFinalizer(client, pod);
  if (freed !== undefined) recordPodWrite(memory.written, freed);
}

/** What several failures are thrown together as. */
const UNCLAIMED = 'pods could not be claimed or released';
