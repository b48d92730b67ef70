import { forPods } from '../../api/job-requests.ts';
import type { Head, Inadmissible, Requeue } from './decision.ts';
import { nominate, type Nominee } from './nominate.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Nominates a head with all of its pods, or, where they do not fit and it lets itself be admitted with fewer, with the most that do (Kueue's PodSetReducer). What is
 * found out of a head that does not fit with the fewest either is about all of its pods, unless these can never fit: then it waits until the fewest do.
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

/** It need not wait until others give back what they have. */
const goes = (outcome: Outcome): outcome is Exclude<Nominee, { readonly kind: 'ReservingHead' }> =>
  outcome.kind === 'Fit' || outcome.kind === 'Preempt';

/** The Workload as it is to be admitted with so many pods. */
const withFewerPods = (workload: Workload, count: number): Workload => {
  const { recordedRequests: _all, ...rest } = workload;
  return { ...rest, requests: forPods(workload.requests, count), admittedPods: count, whole: workload };
};

/** What is found for the greatest number from `least` to `most` for which something is; undefined when there is nothing for the least. Where something is found for a number there is for each smaller one. */
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
