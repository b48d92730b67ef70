/**
 * The fences of all origins that have a Lease on this cluster, and the token that their managers have to answer. Time comes in as monotonic
 * milliseconds; whoever owns this looks again when `nextLookMs` says so.
 */
import type { RenewalSeen, WorkerAnnouncement } from '../../shared/api/fence-leases.ts';
import { parseWireTime, toWireMicroTime } from '../../shared/api/wire-time.ts';
import { isOlder, isResourceVersion } from '../../shared/kube/resource-version.ts';
import {
  firstFence,
  isDue,
  isStepBack,
  NO_FENCE_MS,
  stateAt,
  tripped,
  withLease,
  withoutLease,
  withToken,
  type FenceState,
  type LeaseVersion,
  type OriginFence,
  type Remembered,
} from './origin-fence.ts';

export type Trip = { readonly origin: string; readonly why: 'OutOfReach' | 'SteppedBack' };

export interface Fences {
  /** What a manager has to answer. New whenever a fence trips. */
  token(): string;
  /** The token, about to be told at this time. Whoever answers it does so later. */
  tell(nowMs: number): string;
  /**
   * What a worker before this one announced, and for how long no worker has looked since. It counts for Leases that are seen next, and,
   * once {@link listed}, for origins that have none. Of several for one origin the one counts that leaves it least time.
   */
  remember(announcement: WorkerAnnouncement, downMs: number): void;
  /** All Leases that are there were seen: what is seen from now on was not there when the worker before this one wrote. */
  listed(nowMs: number): void;
  /** Some origin may be held to a fence: their Leases are to be watched. */
  binds(): boolean;
  /** The server was at this version some time after `sentMs`: what comes later cannot have happened before that. */
  mark(resourceVersion: string, sentMs: number): void;
  /** `place`: the namespace of the Lease, where there are Leases in more than one. */
  leaseSeen(origin: string, version: LeaseVersion, nowMs: number, place?: string): void;
  leaseGone(origin: string, place?: string): void;
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
  const ownFenceMs = fenceAfterMs === 0 ? NO_FENCE_MS : fenceAfterMs;
  const remembered = new Map<string, Remembered>();
  /** The shortest fence that was announced before: it binds for origins that no earlier worker has seen. */
  let announcedMs = NO_FENCE_MS;
  let marks: readonly { readonly resourceVersion: string; readonly sentMs: number }[] = [];
  let trips: Trip[] = [];

  return {
    token: () => token,
    tell(nowMs) {
      if (told?.token !== token) told = { token, sentMs: nowMs };
      return token;
    },
    remember(announcement, downMs) {
      const announced = milliseconds(announcement.fenceAfterSeconds);
      announcedMs = Math.min(announcedMs, announced);
      for (const [origin, seen] of announcement.renewalsSeen) {
        const { renewTime, elapsedSeconds, fenceAfterSeconds } = seen;
        const bound = fenceAfterSeconds === undefined ? announced : milliseconds(fenceAfterSeconds);
        const entry = { renewedMs: parseWireTime(renewTime), elapsedMs: elapsedSeconds * 1000, downMs, fenceAfterMs: bound };
        const other = remembered.get(origin);
        if (other === undefined || leftMs(entry) < leftMs(other)) remembered.set(origin, entry);
      }
    },
    listed(nowMs) {
      for (const [origin, entry] of remembered)
        if (entry.fenceAfterMs !== NO_FENCE_MS && !fences.has(origin))
          fences.set(origin, firstFence(undefined, token, entry, ownFenceMs, nowMs));
      remembered.clear();
      announcedMs = NO_FENCE_MS;
    },
    binds: () =>
      ownFenceMs !== NO_FENCE_MS ||
      announcedMs !== NO_FENCE_MS ||
      [...remembered.values(), ...fences.values()].some((each) => each.fenceAfterMs !== NO_FENCE_MS),
    mark(resourceVersion, sentMs) {
      if (!isResourceVersion(resourceVersion)) return;
      marks = [...marks, { resourceVersion, sentMs }].slice(-MARKS_MAX);
    },
    leaseSeen(origin, version, nowMs, place = '') {
      tripDue(nowMs);
      const fence = seenFirst(origin, version, nowMs, place);
      const steppedBack = isStepBack(version, fence.versions.get(place));
      // After a step back the new token has not been answered by anything that was there before.
      const afterMs = steppedBack ? Number.NEGATIVE_INFINITY : earliestMs(version, nowMs);
      fences.set(origin, withLease(fence, version, afterMs, ownFenceMs, place));
      if (steppedBack) trip([{ origin, why: 'SteppedBack' }]);
      tripDue(nowMs);
    },
    leaseGone(origin, place = '') {
      const fence = fences.get(origin);
      if (fence !== undefined) fences.set(origin, withoutLease(fence, place));
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
      return fence === undefined ? 'Open' : stateAt(fence, nowMs);
    },
    nextLookMs() {
      const dueMs = [...fences.values()].filter((fence) => !fence.tripped).map((fence) => fence.quietSinceMs + fence.fenceAfterMs);
      const firstMs = Math.min(NO_FENCE_MS, ...dueMs);
      return firstMs === NO_FENCE_MS ? undefined : firstMs;
    },
    origins: () => [...fences.keys()],
    has: (origin) => fences.has(origin),
    renewalsSeen: (nowMs) => new Map([...fences].flatMap(([origin, fence]) => toRemember(origin, fence, nowMs))),
  };

  /**
   * The fence before this version: of the first Lease of an origin that is seen, or of one in another namespace, which may say more of
   * before.
   */
  function seenFirst(origin: string, version: LeaseVersion, nowMs: number, place: string): OriginFence {
    const before = fences.get(origin);
    const entry = remembered.get(origin);
    if (before !== undefined && (before.versions.has(place) || before.tripped || entry === undefined)) return before;
    const first = firstFence(version, token, entry, Math.min(ownFenceMs, announcedMs), nowMs, place);
    return before === undefined ? first : { ...before, quietSinceMs: Math.max(before.quietSinceMs, first.quietSinceMs) };
  }

  function tripDue(nowMs: number): void {
    const due = [...fences].flatMap(([origin, fence]) => (isDue(fence, nowMs) ? [origin] : []));
    trip(due.map((origin) => ({ origin, why: 'OutOfReach' })));
  }

  function trip(these: readonly Trip[]): void {
    if (these.length === 0) return;
    token = newToken();
    trips.push(...these);
    const origins = new Set(these.map(({ origin }) => origin));
    for (const [origin, fence] of fences) fences.set(origin, origins.has(origin) ? tripped(fence, token) : withToken(fence, token));
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
}

/** An origin that is held to no fence need not be remembered, nor one whose Lease was deleted. */
function toRemember(
  origin: string,
  { versions, rememberedMs, gone, quietSinceMs, tripped: isTripped, fenceAfterMs }: OriginFence,
  nowMs: number,
): [string, RenewalSeen][] {
  if (fenceAfterMs === NO_FENCE_MS || gone) return [];
  const elapsedMs = Math.max(nowMs - quietSinceMs, isTripped ? fenceAfterMs : 0);
  const renewals = [...versions.values()].flatMap(({ renewedMs }) => renewedMs ?? []);
  const renewedMs = renewals.length === 0 ? (rememberedMs ?? 0) : Math.max(...renewals);
  return [
    [
      origin,
      {
        renewTime: toWireMicroTime(renewedMs),
        elapsedSeconds: Math.max(0, Math.round(elapsedMs)) / 1000,
        fenceAfterSeconds: fenceAfterMs / 1000,
      },
    ],
  ];
}

const milliseconds = (fenceAfterSeconds: number): number => (fenceAfterSeconds === 0 ? NO_FENCE_MS : fenceAfterSeconds * 1000);
const leftMs = ({ fenceAfterMs, elapsedMs, downMs }: Remembered): number => fenceAfterMs - elapsedMs - downMs;

/** More than are needed for the time in which a fence trips. */
const MARKS_MAX = 20;
