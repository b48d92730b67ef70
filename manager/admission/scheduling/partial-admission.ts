import type { Head, Inadmissible, Requeue } from './decision.ts';
import { nominate, type Nominee } from './nominate.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';
import { withPods } from '../workload/workload-pod-sets.ts';

/**
 * Nominates a head with all its pods, or with the most that fit if the Job allows partial admission (Kueue's PodSetReducer); of several
 * pod sets, one may have fewer. If the fewest pods do not fit either, the result is about all pods; if those can never fit, it is about
 * the fewest.
 */
export function nominateLargest(snapshot: Snapshot, head: Head, nowMs: number): Outcome {
  const whole = nominate(snapshot, head, nowMs);
  const { workload } = head.queued;
  const pods = workload.requests.get('pods') ?? 0;
  if (goes(whole) || workload.minPods === undefined || workload.minPods >= pods) return whole;
  const nominateWith = (count: number): Outcome =>
    nominate(snapshot, { ...head, queued: { ...head.queued, workload: withFewerPods(workload, count) } }, nowMs);
  const fewest = nominateWith(workload.minPods);
  if (goes(fewest)) {
    const found = (count: number): Outcome | undefined => {
      const outcome = nominateWith(count);
      return goes(outcome) ? outcome : undefined;
    };
    return largest(workload.minPods + 1, pods - 1, found) ?? fewest;
  }
  if (whole.kind !== 'Inadmissible' || whole.waitsFor !== 'setup') return whole;
  return { ...(fewest.kind === 'ReservingHead' ? fewest.decision : fewest), head };
}

type Outcome = Nominee | Inadmissible | Requeue;

/** The head fits now or by preemption, without waiting for capacity to be given back. */
const goes = (outcome: Outcome): outcome is Exclude<Nominee, { readonly kind: 'ReservingHead' }> =>
  outcome.kind === 'Fit' || outcome.kind === 'Preempt';

/** The Workload as it is admitted with `count` pods. */
const withFewerPods = (workload: Workload, count: number): Workload => {
  const { recordedRequests: _all, ...rest } = workload;
  return { ...rest, ...withPods(workload, count), admittedPods: count, whole: workload };
};

/**
 * The result of `find` for the greatest count in [`least`, `most`] that has one; undefined if `least` has none. If a count has a
 * result, every smaller count must have one.
 */
export function largest<T>(least: number, most: number, find: (count: number) => T | undefined): T | undefined {
  let best = find(least);
  if (best === undefined) return undefined;
  for (let low = least, high = most; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    const found = find(middle);
    if (found === undefined) high = middle - 1;
    else [low, best] = [middle, found];
  }
  return best;
}
