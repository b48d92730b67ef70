import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { AbleReason } from '../../api/worker-cluster.ts';
import type { AbilityNow } from './cluster-ability.ts';

/**
 * Whether a cluster is steady enough for Jobs. A cluster with an unsteady connection stops its copies again and again, so that none
 * finishes. Each trip of its fence counts against it. After several it gets no Jobs for a time that doubles with each trip, then, for as
 * long again, one Job at a time. Times are epoch milliseconds.
 */
export interface Trips {
  /** A copy on the cluster has changed. */
  seen(copy: DeepReadonly<WorkObject>, before: DeepReadonly<WorkObject>): void;
  trust(): Trust;
  stop(): void;
}

/** `untilMs`: when the trust may change by itself; undefined: the trips are forgotten. */
export type Trust = AbilityNow & { readonly untilMs?: number };

/** After this many trips, each while the one before is remembered, no Job is placed on the cluster. */
const TRIPS_UNTIL_UNSTEADY = 3;
const REMEMBERED_MS = 3_600_000;
const BACK_OFF_MS = 60_000;
const BACK_OFF_MAX_MS = 3_600_000;
/** Many copies report the same trip. After an interruption several trips are reported at once, but by each copy in their order. */
const SAME_TRIP_MS = 10_000;
const TRIPS_MAX = 20;

/** `onChange`: the trust has changed. */
export function createTrips(clock: Clock, onChange: () => void): Trips {
  let trips: readonly number[] = [];
  let reportedBy = new Set<string>();
  let timer: Timer | undefined;

  const trust = (): Trust => trustAt(trips, clock.now());
  const update = (): void => {
    timer?.cancel();
    const { untilMs } = trust();
    timer = untilMs === undefined ? undefined : clock.schedule(update, untilMs - clock.now());
    onChange();
  };

  return {
    seen(copy, before) {
      if (!reportsTrip(copy, before)) return;
      const nowMs = clock.now();
      if (reportedBy.has(copy.metadata.uid) || nowMs - (trips.at(-1) ?? Number.NEGATIVE_INFINITY) >= SAME_TRIP_MS) {
        trips = [...(trust().untilMs === undefined ? [] : trips), nowMs].slice(-TRIPS_MAX);
        reportedBy = new Set();
        update();
      }
      reportedBy.add(copy.metadata.uid);
    },
    trust,
    stop: () => timer?.cancel(),
  };
}

function trustAt(trips: readonly number[], nowMs: number): Trust {
  const [firstMs, lastMs] = [trips[0], trips.at(-1)];
  if (firstMs === undefined || lastMs === undefined) return { kind: 'Able' };
  const excess = trips.length - TRIPS_UNTIL_UNSTEADY;
  const backOffMs = excess < 0 ? 0 : Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** excess);
  const forgottenMs = lastMs + Math.max(REMEMBERED_MS, 2 * backOffMs);
  const message = `its worker has stopped the copies there ${trips.length} times since ${toWireTime(firstMs)}, because it did not hear of the manager`;
  const problem = { reason: AbleReason.Unsteady, message };
  if (nowMs < lastMs + backOffMs) return { kind: 'NotAble', problem, untilMs: lastMs + backOffMs };
  if (nowMs < lastMs + 2 * backOffMs) return { kind: 'Trying', problem, untilMs: lastMs + 2 * backOffMs };
  return nowMs < forgottenMs ? { kind: 'Able', untilMs: forgottenMs } : { kind: 'Able' };
}

/** Whether a copy reports a trip that it did not report before; the trip may be over by now. */
export function reportsTrip(copy: DeepReadonly<WorkObject>, before: DeepReadonly<WorkObject>): boolean {
  const [now, then] = [copy, before].map(({ status }) => findCondition(status?.conditions, 'Fenced'));
  if (now === undefined || (now.status === then?.status && now.lastTransitionTime === then.lastTransitionTime)) return false;
  return now.status === 'True' || then?.status !== 'True';
}
