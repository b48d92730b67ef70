/**
 * The fence of one origin: whether pods may run, and be created, for the copies that its manager has made on this cluster. Decided from the
 * versions of the manager's Lease that were seen and from the time that has passed; nothing happens here.
 *
 * A renewal counts only if it says for a token of ours that the cluster has been put in order. As long as such renewals come the fence is
 * open. When they stay away for `fenceAfterMs` it trips, and stays so until the manager answers a token that is newer than that.
 *
 * The manager counts on the fence that the worker announced when it was last in reach. So the shortest one binds, whatever flags a worker
 * was started with since, until the manager has answered a token that was announced with the new one.
 */
import { isOlder } from '../../shared/kube/resource-version.ts';

/** Hold: what runs goes on, and no pod is created. Fenced: nothing runs. */
export type FenceState = 'Open' | 'Hold' | 'Fenced';

/** A version of the manager's Lease. */
export type LeaseVersion = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** By the manager's clock: it tells renewals apart, and nothing else. */
  readonly renewedMs: number | undefined;
  /** A manager holds it: it was not released. */
  readonly held: boolean;
  /** The fence token that it answers. */
  readonly reconciled: string | undefined;
};

export type OriginFence = {
  /** The fence that binds, in milliseconds; {@link NO_FENCE_MS}: none does. */
  readonly fenceAfterMs: number;
  /** The newest versions seen, by the namespace of the Lease, also of one that is gone. */
  readonly versions: ReadonlyMap<string, LeaseVersion>;
  /** Where the renewal was that counted last: what becomes of a Lease elsewhere closes nothing. */
  readonly place: string;
  /** When an earlier worker saw its last renewal, by the manager's clock. */
  readonly rememberedMs: number | undefined;
  /** Its Lease was there, at its place, and was deleted. */
  readonly gone: boolean;
  /** The last version answers a token of ours. */
  readonly confirmed: boolean;
  /** Since when no renewal has counted, in monotonic milliseconds. */
  readonly quietSinceMs: number;
  readonly tripped: boolean;
  /** The tokens that were given out since the fence tripped, or the worker started; an answer to any of them counts. */
  readonly accepted: readonly string[];
};

/** Copies run for ever without a sign of their manager. */
export const NO_FENCE_MS = Number.POSITIVE_INFINITY;

/** What an earlier worker wrote down of an origin. */
export type Remembered = {
  readonly renewedMs: number | undefined;
  /** For how long its manager had been out of sight. */
  readonly elapsedMs: number;
  /** For how long no worker has looked since. */
  readonly downMs: number;
  /** The fence that bound then. */
  readonly fenceAfterMs: number;
};

/**
 * The fence of an origin that is met for the first time since the worker started: by its Lease, or by what an earlier worker wrote down of
 * it (`version` is undefined then). What had elapsed before counts: a worker that is started again and again must not hold a fence open.
 */
export function firstFence(
  version: LeaseVersion | undefined,
  token: string,
  remembered: Remembered | undefined,
  fenceAfterMs: number,
  nowMs: number,
  place = '',
): OriginFence {
  const boundMs = Math.min(fenceAfterMs, remembered?.fenceAfterMs ?? NO_FENCE_MS);
  const rememberedMs = remembered?.renewedMs;
  const unseen = { versions: new Map<string, LeaseVersion>(), place, rememberedMs, gone: false, confirmed: false, tripped: false };
  const fence = { ...unseen, fenceAfterMs: boundMs, accepted: [token] };
  // Where no fence bound, nothing was promised.
  if (remembered === undefined || remembered.fenceAfterMs === NO_FENCE_MS) return { ...fence, quietSinceMs: nowMs };
  const { elapsedMs, downMs } = remembered;
  // It was tripped: that the manager is back is not enough.
  if (elapsedMs >= remembered.fenceAfterMs) return { ...fence, quietSinceMs: nowMs - boundMs };
  // Who answers no token has given this cluster up, and only keeps others away.
  const renewed =
    version?.reconciled !== undefined && (version.renewedMs ?? Number.NEGATIVE_INFINITY) > (rememberedMs ?? Number.NEGATIVE_INFINITY);
  return { ...fence, quietSinceMs: renewed ? nowMs : nowMs - elapsedMs - downMs };
}

/**
 * The fence once this version of the Lease is seen, of which is known that it was not there before `afterMs`. An answer is to a token that
 * was announced with `fenceAfterMs`, and has that one bind from then on. An origin may have a Lease in each of two namespaces: renewals of
 * both count.
 */
export function withLease(
  fence: OriginFence,
  version: LeaseVersion,
  afterMs: number,
  fenceAfterMs: number,
  place = fence.place,
): OriginFence {
  const last = fence.versions.get(place);
  const versions = new Map(fence.versions).set(place, version);
  const confirmed = version.held && version.reconciled !== undefined && fence.accepted.includes(version.reconciled);
  const counts = confirmed && (!isAnswered(last, version) || isRenewal(version, last));
  if (place !== fence.place && !counts) return { ...fence, versions };
  if (!confirmed) return { ...fence, versions, gone: false, confirmed };
  return {
    ...fence,
    fenceAfterMs,
    versions,
    place,
    gone: false,
    confirmed,
    tripped: false,
    quietSinceMs: counts ? Math.max(fence.quietSinceMs, afterMs) : fence.quietSinceMs,
  };
}

/** Whether the version before this one gave the same answer. */
const isAnswered = (last: LeaseVersion | undefined, { reconciled }: LeaseVersion): boolean =>
  last !== undefined && last.held && last.reconciled === reconciled;

const isRenewal = (version: LeaseVersion, last: LeaseVersion | undefined): boolean =>
  last === undefined || version.uid !== last.uid || (version.renewedMs ?? 0) > (last.renewedMs ?? 0);

/** The Lease is gone. It may come back, as a manager makes it anew; until then nobody confirms anything there. */
export const withoutLease = (fence: OriginFence, place = fence.place): OriginFence =>
  place === fence.place ? { ...fence, gone: true, confirmed: false } : fence;

/**
 * Whether this version comes before one that was seen: then the cluster has been restored from a backup, with what ran there at that time.
 */
export const isStepBack = (version: LeaseVersion, last: LeaseVersion | undefined): boolean =>
  last !== undefined &&
  (isOlder(version.resourceVersion, last.resourceVersion) ||
    (version.uid === last.uid && version.renewedMs !== undefined && version.renewedMs < (last.renewedMs ?? Number.NEGATIVE_INFINITY)));

/** Only an answer to `token`, which nobody has seen before, opens it again. */
export const tripped = (fence: OriginFence, token: string): OriginFence => ({
  ...fence,
  confirmed: false,
  tripped: true,
  accepted: [token],
});

/** Another origin's fence has tripped: an answer to the new token counts, and so does one to those before. */
export const withToken = (fence: OriginFence, token: string): OriginFence => ({
  ...fence,
  accepted: [...fence.accepted, token].slice(-TOKENS_MAX),
});

/** A manager that has not looked at so many new tokens is out of reach by any measure. */
const TOKENS_MAX = 20;

export function stateAt(fence: OriginFence, nowMs: number): FenceState {
  if (fence.tripped || isDue(fence, nowMs)) return 'Fenced';
  if (fence.fenceAfterMs === NO_FENCE_MS) return 'Open';
  return fence.confirmed ? 'Open' : 'Hold';
}

/** It should trip now. */
export const isDue = ({ tripped: isTripped, quietSinceMs, fenceAfterMs }: OriginFence, nowMs: number): boolean =>
  !isTripped && nowMs - quietSinceMs >= fenceAfterMs;
