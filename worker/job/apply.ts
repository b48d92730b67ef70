/**
 * Carrying out what was decided: pods created, deleted and freed of their finalizer. Nothing here decides anything but
 * what an API error means (rules: UPSTREAM.md, "API errors"). Errors are handed back, not thrown, because the counting
 * of a sync goes on when a creation or deletion has failed.
 */
import type { DeepReadonly, Job, Pod, Unsaved } from '../../shared/api/kubernetes.ts';
import { FENCED_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS, PODS } from '../../shared/api/resources.ts';
import { ApiError, hasStatusCause, isAlreadyExists, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Fence } from '../fence/fence.ts';
import { inParallel } from '../in-parallel.ts';
import { generateName } from '../../shared/kube/generated-name.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { PodsOutcome } from './account.ts';
import type { Decision } from './decide.ts';
import type { JobMemory } from './job-memory.ts';
import type { JobMetrics, SyncAction } from './metrics.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { createPodTemplate } from './pod-template.ts';
import type { PodView } from './pod-view.ts';
import type { PodSlot } from './scale.ts';
import { REQUESTS_MAX, removeTrackingFinalizer } from './tracking-finalizer.ts';
import { recordPodWrite } from './written-versions.ts';

export type ApplyDeps = {
  readonly client: ReadClient & WriteClient;
  readonly random: Random;
  readonly recorder: EventRecorder;
  readonly memory: JobMemory;
  readonly metrics: JobMetrics;
  readonly fence: Pick<Fence, 'stateOf'>;
};

export type Applied = PodsOutcome & {
  readonly action: SyncAction;
  /** The first error; the sync ends with it once the status is written. */
  readonly error?: Error;
};

const firstOf = ([error]: readonly Error[]): { readonly error?: Error } => (error === undefined ? {} : { error });

/** Brings the pods to what the decision wants. */
export async function applyPods(deps: ApplyDeps, job: DeepReadonly<Job>, { plan, tally }: Decision): Promise<Applied> {
  const active = tally.active.length;
  const untouched = { active, deleted: 0, deletedReady: 0, mayHaveDeleted: false };
  switch (plan.kind) {
    case 'leave':
    case 'deny':
      return { ...untouched, action: 'reconciling' };
    case 'keep':
      return { ...untouched, action: 'tracking' };
    case 'wait':
      // UPSTREAM.md Q3: while the back-off lasts a Job reports no active pods.
      return { ...untouched, active: 0, action: 'pods_created' };
    case 'finish':
      return { ...(await finishPods(deps, job, plan.pods, active)), action: 'reconciling' };
    case 'remove':
      return { ...(await removePods(deps, job, plan.pods, active)), action: 'pods_deleted' };
    case 'create': {
      const { created, failed, namespaceTerminating, error } = await createPods(deps, job, plan.slots);
      // UPSTREAM.md Q6: a failed creation counts as succeeded, too.
      deps.metrics.podsCreated(plan.reason, created + failed, failed);
      return {
        ...untouched,
        active: active + created,
        namespaceTerminating,
        action: 'pods_created',
        ...omitUndefined({ error }),
      };
    }
  }
}

/** The Job is at its end: delete what runs. The finalizers stay, because these pods are still to be counted. */
async function finishPods(
  deps: ApplyDeps,
  job: DeepReadonly<Job>,
  pods: readonly PodView[],
  active: number,
): Promise<Omit<Applied, 'action'>> {
  const errors = failuresIn(await inParallel(pods, REQUESTS_MAX, ({ pod }) => deletePod(deps, job, pod)));
  const deleted = pods.length - errors.length;
  // Upstream takes a ready pod off even if its deletion failed.
  const deletedReady = pods.filter((pod) => pod.ready).length;
  const mayHaveDeleted = deleted > 0 || errors.some(({ cause }) => isUnanswered(cause));
  return { active: active - deleted, deleted, deletedReady, mayHaveDeleted, ...firstOf(errors) };
}

/** Suspended, or too many: the pods are freed of their finalizer and deleted. They will never be counted. */
async function removePods(
  deps: ApplyDeps,
  job: DeepReadonly<Job>,
  pods: readonly PodView[],
  active: number,
): Promise<Omit<Applied, 'action'>> {
  const { uid } = job.metadata;
  // The pods say why they end, because the status that says so may never be written.
  const marks = deps.fence.stateOf(job) === 'Fenced' ? { [FENCED_ANNOTATION]: 'true' } : undefined;
  deps.memory.expectations.expectDeletions(uid, pods.length);
  const results = await inParallel(pods, REQUESTS_MAX, async (pod) => {
    const freed = pod.hasFinalizer ? await removeFinalizer(deps, pod.pod, marks) : 'done';
    const result = freed === 'done' ? await deletePod(deps, job, pod.pod) : freed;
    // The cache will not show a deletion that did not happen, or happened before.
    if (result !== 'done') deps.memory.expectations.deletionObserved(uid);
    return { freed: freed === 'done', result };
  });
  const errors = failuresIn(results.map(({ result }) => result));
  const deleted = pods.length - errors.length;
  const deletedReady = pods.filter((pod, position) => pod.ready && results[position]?.freed).length;
  return { active: active - deleted, deleted, deletedReady, mayHaveDeleted: deleted > 0, ...firstOf(errors) };
}

type CreationOutcome = {
  readonly created: number;
  readonly failed: number;
  readonly namespaceTerminating: boolean;
  readonly error?: Error;
};

/**
 * Creates pods in batches of 1, 2, 4, ...: when the first is refused for want of quota, a thousand more would be too.
 * After a batch with an error the rest is left for the retry, and so it is when the fence closes meanwhile.
 */
async function createPods(deps: ApplyDeps, job: DeepReadonly<Job>, slots: readonly PodSlot[]): Promise<CreationOutcome> {
  const { expectations } = deps.memory;
  const { uid } = job.metadata;
  const podFor = createPodTemplate(job);
  const pods = slots.map((slot) => ({ index: slot.index, pod: podFor(slot) }));
  // Nothing would ever find such pods again. No event tells of it, as nothing was asked of the server.
  if (pods.some(({ pod }) => isEmpty(pod.metadata.labels)))
    return { created: 0, failed: 1, namespaceTerminating: false, error: new Error('unable to create pods, no labels') };
  expectations.expectCreations(uid, slots.length);
  let created = 0;
  let tried = 0;
  const errors: Error[] = [];
  let refused = 0;
  const isOpen = (): boolean => deps.fence.stateOf(job) === 'Open';
  for (let size = 1; tried < pods.length && errors.length + refused === 0 && isOpen(); size *= 2) {
    const batch = pods.slice(tried, tried + size);
    tried += batch.length;
    for (const result of await inParallel(batch, REQUESTS_MAX, async (each) => (isOpen() ? createPod(deps, job, each) : 'fence closed'))) {
      if (result === 'created') created++;
      else if (result === 'namespace terminating') refused++;
      else if (result !== 'fence closed') errors.push(result.failure);
    }
  }
  for (let missing = pods.length - created; missing > 0; missing--) expectations.creationObserved(uid);
  return { created, failed: errors.length, namespaceTerminating: refused > 0, ...firstOf(errors) };
}

/** One pod to be made, of an index where the Job has such. */
type NewPod = { readonly index: number | undefined; readonly pod: Unsaved<Pod> };

async function createPod(
  deps: ApplyDeps,
  job: DeepReadonly<Job>,
  wanted: NewPod,
): Promise<'created' | 'namespace terminating' | { readonly failure: Error }> {
  const { recorder, memory } = deps;
  try {
    const pod = await createOnce(deps, job, wanted);
    memory.written.record(job.metadata.uid, 'pods', pod.metadata.resourceVersion);
    recorder.event(JOBS, job, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    return 'created';
  } catch (error) {
    // UPSTREAM.md Q7: nobody can do anything about it, so nothing is told.
    if (hasStatusCause(error, 'NamespaceTerminating')) return 'namespace terminating';
    recorder.event(JOBS, job, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
    return { failure: new Error('create a pod', { cause: error }) };
  }
}

/** So often another name is tried where the first is taken, as the API server does for names that it makes. */
const NAMES_MAX = 8;

/**
 * Creates a pod under a name of our own, so that who gets no answer can ask for the same pod again: whether it was made, or will be made
 * late, there is one. UPSTREAM.md D10.
 */
async function createOnce(
  { client, memory, random }: ApplyDeps,
  job: DeepReadonly<Job>,
  { index, pod }: NewPod,
): Promise<Pick<Pod, 'metadata'>> {
  const { uid, namespace } = job.metadata;
  const asked = memory.doubtfulPods.take(uid, index);
  let name = asked ?? generateName(pod.metadata.generateName ?? '', random);
  for (let tries = 1; ; tries++) {
    try {
      return await client.create(PODS, { ...pod, metadata: { ...pod.metadata, name } }, { answer: 'metadata' });
    } catch (error) {
      // A refusal says nothing of what was asked for before.
      const isInDoubt = isUnanswered(error) || (name === asked && !isAlreadyExists(error));
      if (isInDoubt) memory.doubtfulPods.add(uid, index, name);
      if (!isAlreadyExists(error) || tries === NAMES_MAX) throw error;
    }
    if (name === asked) {
      // The worker may list pods, and needs no right to get them beside it.
      const { items } = await client.list(PODS, { namespace, fieldSelector: `metadata.name=${name}` });
      const made = items.find((each) => controllerOf(each)?.uid === uid);
      if (made !== undefined) return made;
    }
    name = generateName(pod.metadata.generateName ?? '', random);
  }
}

/** What was asked for may have been done, or may be done yet. */
const isUnanswered = (error: unknown): boolean => !(error instanceof ApiError) || error.code >= 500;

/** How a call on one pod ended. A pod that is gone needs no call, which is as good as done but will show no event. */
type CallResult = 'done' | 'gone' | { readonly failure: Error };
const failuresIn = (results: readonly CallResult[]): Error[] =>
  results.flatMap((result) => (typeof result === 'string' ? [] : [result.failure]));

/** Asks for the pod's deletion with its own grace period. */
async function deletePod({ client, recorder }: ApplyDeps, job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): Promise<CallResult> {
  const { namespace, name } = pod.metadata;
  try {
    await client.delete(PODS, { namespace, name });
    recorder.event(JOBS, job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    return 'done';
  } catch (error) {
    if (isNotFound(error)) return 'gone';
    recorder.event(JOBS, job, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
    return { failure: new Error(`delete pod ${namespace}/${name}`, { cause: error }) };
  }
}

/** Takes the tracking finalizer off one pod. */
async function removeFinalizer(
  { client, memory }: ApplyDeps,
  pod: DeepReadonly<Pod>,
  annotations?: Readonly<Record<string, string>>,
): Promise<CallResult> {
  try {
    const freed = await removeTrackingFinalizer(client, pod, annotations);
    if (freed === undefined) return 'gone';
    recordPodWrite(memory.written, freed);
    return 'done';
  } catch (error) {
    return { failure: new Error('free a pod of its finalizer', { cause: error }) };
  }
}

/** Takes the finalizers off counted pods. Tells which pods have lost theirs, and the first error. */
export async function removeFinalizers(
  deps: ApplyDeps,
  job: DeepReadonly<Job>,
  pods: readonly PodView[],
): Promise<{ readonly removed: ReadonlySet<string>; readonly error?: Error }> {
  const { finalizerExpectations } = deps.memory;
  const jobUid = job.metadata.uid;
  // All of them before the first call: until the cache shows a pod without finalizer it must not be counted again.
  finalizerExpectations.expectRemoval(
    jobUid,
    pods.map(({ uid }) => uid),
  );
  const removed = new Set<string>();
  let error: Error | undefined;
  await inParallel(pods, REQUESTS_MAX, async ({ pod, uid }) => {
    const result = await removeFinalizer(deps, pod);
    if (typeof result === 'string') {
      // UPSTREAM.md Q22: a pod that is gone may still stand in the cache, as long as its deletion is on its way.
      removed.add(uid);
      return;
    }
    finalizerExpectations.removalObserved(jobUid, uid);
    error ??= result.failure;
  });
  return { removed, ...omitUndefined({ error }) };
}

const isEmpty = (labels: Readonly<Record<string, string>> | undefined): boolean => Object.keys(labels ?? {}).length === 0;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
