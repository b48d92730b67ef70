/**
 * The fences of all origins that have a Lease on this cluster, and the token that their managers have to answer. Time comes in as monotonic
 * milliseconds; whoever owns this looks again when `nextLookMs` says so.
 */
import type { RenewalSeen } from '../../shared/api/fence-leases.ts';
import { parseWireTime, toWireMicroTime } from '../../shared/api/wire-time.ts';
import { isOlder, isResourceVersion } from '../../shared/kube/resource-version.ts';
import {
  firstFence,
  isDue,
  isStepBack,
  stateAt,
  tripped,
  withLease,
  withoutLease,
  withToken,
  type FenceState,
  type LeaseVersion,
  type OriginFence,
} from './origin-fence.ts';

export type Trip = { readonly origin: string; readonly why: 'OutOfReach' | 'SteppedBack' };

export interface Fences {
  /** What a manager has to answer. New whenever a fence trips. */
  token(): string;
  /** The token, about to be told at this time. Whoever answers it does so later. */
  tell(nowMs: number): string;
  /** What the worker before this one wrote down, and for how long nobody has looked since: it counts for Leases that are seen next. */
  remember(renewalsSeen: ReadonlyMap<string, RenewalSeen>, downMs: number): void;
  /** The server was at this version some time after `sentMs`: what comes later cannot have happened before that. */
  mark(resourceVersion: string, sentMs: number): void;
  leaseSeen(origin: string, version: LeaseVersion, nowMs: number): void;
  leaseGone(origin: string): void;
  /** Nobody was held to anything before: all fences are as if their Lease were seen for the first time now. */
  startAnew(nowMs: number): void;
  /** Trips what is due, and tells all trips since it was asked last. */
  look(nowMs: number): readonly Trip[];
  /** An origin that never had a Lease is open. */
  stateOf(origin: string, nowMs: number): FenceState;
  /** When `look` may have something to do though nothing is seen; undefined: never. */
  nextLookMs(): number | undefined;
  origins(): readonly string[];
  /** Whether it has, or had, a Lease. */
  has(origin: string): boolean;
  /** What is to be remembered by the worker after this one. */
  renewalsSeen(nowMs: number): ReadonlyMap<string, RenewalSeen>;
}

/** `newToken` gives a text that it never gave before, in no earlier worker either. */
export function createFences(fenceAfterMs: number, newToken: () => string): Fences {
  const fences = new Map<string, OriginFence>();
  let token = newToken();
  /** When the newest token that was told was told first. */
  let told: { readonly token: string; readonly sentMs: number } | undefined;
  let remembered: ReadonlyMap<string, RenewalSeen> = new Map();
  let downMs = 0;
  let marks: readonly { readonly resourceVersion: string; readonly sentMs: number }[] = [];
  let trips: Trip[] = [];

  return {
    token: () => token,
    tell(nowMs) {
      if (told?.token !== token) told = { token, sentMs: nowMs };
      return token;
    },
    remember(renewalsSeen, unseenMs) {
      remembered = renewalsSeen;
      downMs = unseenMs;
    },
    mark(resourceVersion, sentMs) {
      if (!isResourceVersion(resourceVersion)) return;
      marks = [...marks, { resourceVersion, sentMs }].slice(-MARKS_MAX);
    },
    leaseSeen(origin, version, nowMs) {
      tripDue(nowMs);
      const fence = fences.get(origin) ?? firstFence(version, token, rememberedOf(origin), downMs, fenceAfterMs, nowMs);
      const steppedBack = isStepBack(version, fence.last);
      // After a step back the new token has not been answered by anything that was there before.
      fences.set(origin, withLease(fence, version, steppedBack ? Number.NEGATIVE_INFINITY : earliestMs(version, nowMs)));
      if (steppedBack) trip([{ origin, why: 'SteppedBack' }]);
      tripDue(nowMs);
    },
    leaseGone(origin) {
      const fence = fences.get(origin);
      if (fence !== undefined) fences.set(origin, withoutLease(fence));
    },
    startAnew(nowMs) {
      trips = [];
      for (const [origin, fence] of fences) fences.set(origin, { ...fence, tripped: false, quietSinceMs: nowMs });
    },
    look(nowMs) {
      tripDue(nowMs);
      const untold = trips;
      trips = [];
      return untold;
    },
    stateOf(origin, nowMs) {
      const fence = fences.get(origin);
      return fence === undefined ? 'Open' : stateAt(fence, fenceAfterMs, nowMs);
    },
    nextLookMs() {
      const dueMs = [...fences.values()].filter((fence) => !fence.tripped).map(({ quietSinceMs }) => quietSinceMs + fenceAfterMs);
      return dueMs.length === 0 ? undefined : Math.min(...dueMs);
    },
    origins: () => [...fences.keys()],
    has: (origin) => fences.has(origin),
    renewalsSeen: (nowMs) => new Map([...fences].map(([origin, fence]) => [origin, toRemember(fence, nowMs)])),
  };

  function tripDue(nowMs: number): void {
    const due = [...fences].flatMap(([origin, fence]) => (isDue(fence, fenceAfterMs, nowMs) ? [origin] : []));
    trip(due.map((origin) => ({ origin, why: 'OutOfReach' })));
  }

  function trip(these: readonly Trip[]): void {
    if (these.length === 0) return;
    token = newToken();
    trips.push(...these);
    const origins = new Set(these.map(({ origin }) => origin));
    for (const [origin, fence] of fences) fences.set(origin, origins.has(origin) ? tripped(fence, token) : withToken(fence, token));
  }

  function rememberedOf(origin: string) {
    const entry = remembered.get(origin);
    return entry && { renewedMs: parseWireTime(entry.renewTime), elapsedMs: entry.elapsedSeconds * 1000 };
  }

  /**
   * When this version can have been written at the earliest. That it is seen now says little: a watch may lag, and a program may have been
   * stopped for a while. That the server was at an earlier version when we wrote to it last does.
   */
  function earliestMs(version: LeaseVersion, nowMs: number): number {
    if (!isResourceVersion(version.resourceVersion)) return nowMs;
    // Two requests at a time may be answered in another order.
    const sentMs = marks.flatMap((mark) => (isOlder(mark.resourceVersion, version.resourceVersion) ? [mark.sentMs] : []));
    const answered = told !== undefined && version.reconciled === told.token ? told.sentMs : Number.NEGATIVE_INFINITY;
    return Math.max(Number.NEGATIVE_INFINITY, answered, ...sentMs);
  }

  function toRemember(fence: OriginFence, nowMs: number): RenewalSeen {
    const elapsedMs = Math.max(nowMs - fence.quietSinceMs, fence.tripped ? fenceAfterMs : 0);
    return { renewTime: toWireMicroTime(fence.last?.renewedMs ?? 0), elapsedSeconds: Math.max(0, Math.round(elapsedMs)) / 1000 };
  }
}

/** More than are needed for the time in which a fence trips. */
const MARKS_MAX = 20;
