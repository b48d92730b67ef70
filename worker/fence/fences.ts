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
  return new FencesOfOrigins(fenceAfterMs, newToken);
}

class FencesOfOrigins implements Fences {
  readonly #newToken: () => string;
  readonly #fences = new Map<string, OriginFence>();
  #token: string;
  /** When the newest token that was told was told first. */
  #told: { readonly token: string; readonly sentMs: number } | undefined;
  readonly #ownFenceMs: number;
  readonly #remembered = new Map<string, Remembered>();
  /** The shortest fence that was announced before: it binds for origins that no earlier worker has seen. */
  #announcedMs = NO_FENCE_MS;
  #marks: readonly { readonly resourceVersion: string; readonly sentMs: number }[] = [];
  #trips: Trip[] = [];

  constructor(fenceAfterMs: number, newToken: () => string) {
    this.#newToken = newToken;
    this.#token = newToken();
    this.#ownFenceMs = fenceAfterMs === 0 ? NO_FENCE_MS : fenceAfterMs;
  }

  token(): string {
    return this.#token;
  }

  tell(nowMs: number): string {
    if (this.#told?.token !== this.#token) this.#told = { token: this.#token, sentMs: nowMs };
    return this.#token;
  }

  remember(announcement: WorkerAnnouncement, downMs: number): void {
    const announced = milliseconds(announcement.fenceAfterSeconds);
    this.#announcedMs = Math.min(this.#announcedMs, announced);
    for (const [origin, seen] of announcement.renewalsSeen) {
      const { renewTime, elapsedSeconds, fenceAfterSeconds } = seen;
      const bound = fenceAfterSeconds === undefined ? announced : milliseconds(fenceAfterSeconds);
      const entry = { renewedMs: parseWireTime(renewTime), elapsedMs: elapsedSeconds * 1000, downMs, fenceAfterMs: bound };
      const other = this.#remembered.get(origin);
      if (other === undefined || leftMs(entry) < leftMs(other)) this.#remembered.set(origin, entry);
    }
  }

  listed(nowMs: number): void {
    for (const [origin, entry] of this.#remembered)
      if (entry.fenceAfterMs !== NO_FENCE_MS && !this.#fences.has(origin))
        this.#fences.set(origin, firstFence(undefined, this.#token, entry, this.#ownFenceMs, nowMs));
    this.#remembered.clear();
    this.#announcedMs = NO_FENCE_MS;
  }

  binds(): boolean {
    return (
      this.#ownFenceMs !== NO_FENCE_MS ||
      this.#announcedMs !== NO_FENCE_MS ||
      [...this.#remembered.values(), ...this.#fences.values()].some((each) => each.fenceAfterMs !== NO_FENCE_MS)
    );
  }

  mark(resourceVersion: string, sentMs: number): void {
    if (!isResourceVersion(resourceVersion)) return;
    this.#marks = [...this.#marks, { resourceVersion, sentMs }].slice(-MARKS_MAX);
  }

  leaseSeen(origin: string, version: LeaseVersion, nowMs: number, place = ''): void {
    this.#tripDue(nowMs);
    const fence = this.#seenFirst(origin, version, nowMs, place);
    const steppedBack = isStepBack(version, fence.versions.get(place));
    // After a step back the new token has not been answered by anything that was there before.
    const afterMs = steppedBack ? Number.NEGATIVE_INFINITY : this.#earliestMs(version, nowMs);
    this.#fences.set(origin, withLease(fence, version, afterMs, this.#ownFenceMs, place));
    if (steppedBack) this.#trip([{ origin, why: 'SteppedBack' }]);
    this.#tripDue(nowMs);
  }

  #tripDue(nowMs: number): void {
    const due = [...this.#fences].flatMap(([origin, fence]) => (isDue(fence, nowMs) ? [origin] : []));
    this.#trip(due.map((origin) => ({ origin, why: 'OutOfReach' })));
  }

  #trip(these: readonly Trip[]): void {
    if (these.length === 0) return;
    this.#token = this.#newToken();
    this.#trips.push(...these);
    const origins = new Set(these.map(({ origin }) => origin));
    for (const [origin, fence] of this.#fences)
      this.#fences.set(origin, origins.has(origin) ? tripped(fence, this.#token) : withToken(fence, this.#token));
  }

  /**
   * The fence before this version: of the first Lease of an origin that is seen, or of one in another namespace, which may say more of
   * before.
   */
  #seenFirst(origin: string, version: LeaseVersion, nowMs: number, place: string): OriginFence {
    const before = this.#fences.get(origin);
    const entry = this.#remembered.get(origin);
    if (before !== undefined && (before.versions.has(place) || before.tripped || entry === undefined)) return before;
    const first = firstFence(version, this.#token, entry, Math.min(this.#ownFenceMs, this.#announcedMs), nowMs, place);
    return before === undefined ? first : { ...before, quietSinceMs: Math.max(before.quietSinceMs, first.quietSinceMs) };
  }

  /**
   * When this version can have been written at the earliest. That it is seen now says little: a watch may lag, and a program may have been
   * stopped for a while. That the server was at an earlier version when we wrote to it last does.
   */
  #earliestMs(version: LeaseVersion, nowMs: number): number {
    if (!isResourceVersion(version.resourceVersion)) return nowMs;
    // Two requests at a time may be answered in another order.
    const sentMs = this.#marks.flatMap((mark) => (isOlder(mark.resourceVersion, version.resourceVersion) ? [mark.sentMs] : []));
    const answered = this.#told !== undefined && version.reconciled === this.#told.token ? this.#told.sentMs : Number.NEGATIVE_INFINITY;
    return Math.max(Number.NEGATIVE_INFINITY, answered, ...sentMs);
  }

  leaseGone(origin: string, place = ''): void {
    const fence = this.#fences.get(origin);
    if (fence !== undefined) this.#fences.set(origin, withoutLease(fence, place));
  }

  startAnew(nowMs: number): void {
    this.#trips = [];
    for (const [origin, fence] of this.#fences) this.#fences.set(origin, { ...fence, tripped: false, quietSinceMs: nowMs });
  }

  look(nowMs: number): readonly Trip[] {
    this.#tripDue(nowMs);
    const untold = this.#trips;
    this.#trips = [];
    return untold;
  }

  stateOf(origin: string, nowMs: number): FenceState {
    const fence = this.#fences.get(origin);
    return fence === undefined ? 'Open' : stateAt(fence, nowMs);
  }

  nextLookMs(): number | undefined {
    const dueMs = [...this.#fences.values()].filter((fence) => !fence.tripped).map((fence) => fence.quietSinceMs + fence.fenceAfterMs);
    const firstMs = Math.min(NO_FENCE_MS, ...dueMs);
    return firstMs === NO_FENCE_MS ? undefined : firstMs;
  }

  origins(): readonly string[] {
    return [...this.#fences.keys()];
  }

  has(origin: string): boolean {
    return this.#fences.has(origin);
  }

  renewalsSeen(nowMs: number): ReadonlyMap<string, RenewalSeen> {
    return new Map([...this.#fences].flatMap(([origin, fence]) => toRemember(origin, fence, nowMs)));
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
