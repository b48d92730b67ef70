/** Which active pods go when there are too many: those that have done the least (controller.ActivePods in upstream). */
import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import type { JobView } from './job-view.ts';
import { type PodView, readySinceMs, sidecarNames } from './pod-view.ts';
import { validIndex } from './tally.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';

/**
 * The pods to remove, at least `atLeast` of them. In any case go those whose removal was begun and has failed since
 * (UPSTREAM.md Q25), and in an Indexed Job those without a valid index, and all but one of each index.
 */
export function choosePodsToRemove(job: JobView, active: readonly PodView[], atLeast: number): PodView[] {
  const begun = active.filter((pod) => !pod.hasFinalizer);
  const tracked = active.filter((pod) => pod.hasFinalizer);
  const { surplus, rest } = job.indexed ? splitOffSurplus(job, tracked) : { surplus: [], rest: tracked };
  const certain = [...begun, ...surplus];
  const missing = atLeast - certain.length;
  return missing <= 0 ? certain : [...certain, ...rest.toSorted(compareForRemoval).slice(0, missing)];
}

function splitOffSurplus(job: JobView, active: readonly PodView[]): { surplus: PodView[]; rest: PodView[] } {
  const surplus: PodView[] = [];
  const keeperOf = new Map<number, PodView>();
  for (const pod of active) {
    const index = validIndex(job, pod);
    const keeper = index === undefined ? undefined : keeperOf.get(index);
    if (index === undefined) surplus.push(pod);
    else if (keeper === undefined) keeperOf.set(index, pod);
    else if (compareForRemoval(pod, keeper) > 0) {
      surplus.push(keeper);
      keeperOf.set(index, pod);
    } else surplus.push(pod);
  }
  return { surplus, rest: [...keeperOf.values()] };
}

const PHASE_RANK: Readonly<Record<string, number>> = { Unknown: 1, Running: 2 };

/** Negative when `a` goes before `b`. Each rule decides only when those before it leave a tie. */
export function compareForRemoval(a: PodView, b: PodView): number {
  return (
    Number(isBound(a)) - Number(isBound(b)) ||
    (PHASE_RANK[a.phase] ?? 0) - (PHASE_RANK[b.phase] ?? 0) ||
    Number(a.ready) - Number(b.ready) ||
    (a.ready && b.ready ? compareLatestFirst(readySinceMs(a.pod), readySinceMs(b.pod)) : 0) ||
    maxRestarts(b.pod, false) - maxRestarts(a.pod, false) ||
    maxRestarts(b.pod, true) - maxRestarts(a.pod, true) ||
    compareLatestFirst(parseWireTime(a.pod.metadata.creationTimestamp), parseWireTime(b.pod.metadata.creationTimestamp))
  );
}

const isBound = ({ pod }: PodView): boolean => typeof pod.spec.nodeName === 'string' && pod.spec.nodeName !== '';

/** An unknown time goes first. */
const compareLatestFirst = (a: number | undefined, b: number | undefined): number =>
  a === undefined || b === undefined ? Number(b === undefined) - Number(a === undefined) : b - a;

function maxRestarts(pod: DeepReadonly<Pod>, ofSidecars: boolean): number {
  const sidecars = ofSidecars ? sidecarNames(pod) : undefined;
  const statuses = sidecars ? pod.status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) : pod.status?.containerStatuses;
  return (statuses ?? []).reduce((max, { restartCount }) => Math.max(max, restartCount ?? 0), 0);
}
