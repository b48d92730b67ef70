/**
 * The fence of one origin: whether pods may run, and be created, for the copies that its manager has made on this cluster. Decided from the
 * versions of the manager's Lease that were seen and from the time that has passed; nothing happens here.
 *
 * A renewal counts only if it says for a token of ours that the cluster has been put in order. As long as such renewals come the fence is
 * open. When they stay away for `fenceAfterMs` it trips, and stays so until the manager answers a token that is newer than that.
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
  /** The newest version seen, also of a Lease that is gone. */
  readonly last: LeaseVersion | undefined;
  /** The last version answers a token of ours. */
  readonly confirmed: boolean;
  /** Since when no renewal has counted, in monotonic milliseconds. */
  readonly quietSinceMs: number;
  readonly tripped: boolean;
  /** The tokens that were given out since the fence tripped, or the worker started; an answer to any of them counts. */
  readonly accepted: readonly string[];
};

/** For how long a manager had been out of sight when an earlier worker wrote it down. */
export type Remembered = { readonly renewedMs: number | undefined; readonly elapsedMs: number };

/**
 * The fence of an origin whose Lease is seen for the first time since the worker started. What had elapsed before counts: a worker that is
 * started again and again must not hold a fence open. `downMs` is for how long nobody has looked.
 */
export function firstFence(
  version: LeaseVersion,
  token: string,
  remembered: Remembered | undefined,
  downMs: number,
  fenceAfterMs: number,
  nowMs: number,
): OriginFence {
  const fence = { last: undefined, confirmed: false, tripped: false, accepted: [token] };
  if (remembered === undefined) return { ...fence, quietSinceMs: nowMs };
  // It was tripped: that the manager is back is not enough.
  if (remembered.elapsedMs >= fenceAfterMs) return { ...fence, quietSinceMs: nowMs - fenceAfterMs };
  // Who answers no token has given this cluster up, and only keeps others away.
  const renewed =
    version.reconciled !== undefined &&
    (version.renewedMs ?? Number.NEGATIVE_INFINITY) > (remembered.renewedMs ?? Number.NEGATIVE_INFINITY);
  return { ...fence, quietSinceMs: renewed ? nowMs : nowMs - remembered.elapsedMs - downMs };
}

/** The fence once this version of the Lease is seen, of which is known that it was not there before `afterMs`. */
export function withLease(fence: OriginFence, version: LeaseVersion, afterMs: number): OriginFence {
  const confirmed = version.held && version.reconciled !== undefined && fence.accepted.includes(version.reconciled);
  if (!confirmed) return { ...fence, last: version, confirmed };
  const counts = !fence.confirmed || isRenewal(version, fence.last);
  return {
    ...fence,
    last: version,
    confirmed,
    tripped: false,
    quietSinceMs: counts ? Math.max(fence.quietSinceMs, afterMs) : fence.quietSinceMs,
  };
}

const isRenewal = (version: LeaseVersion, last: LeaseVersion | undefined): boolean =>
  last === undefined || version.uid !== last.uid || (version.renewedMs ?? 0) > (last.renewedMs ?? 0);

/** The Lease is gone. It may come back, as a manager makes it anew; until then nobody confirms anything. */
export const withoutLease = (fence: OriginFence): OriginFence => ({ ...fence, confirmed: false });

/** Whether this version comes before one that was seen: then the cluster has been restored from a backup, with what ran there at that time. */
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

export function stateAt(fence: OriginFence, fenceAfterMs: number, nowMs: number): FenceState {
  if (fence.tripped || nowMs - fence.quietSinceMs >= fenceAfterMs) return 'Fenced';
  return fence.confirmed ? 'Open' : 'Hold';
}

/** It should trip now. */
export const isDue = (fence: OriginFence, fenceAfterMs: number, nowMs: number): boolean =>
  !fence.tripped && nowMs - fence.quietSinceMs >= fenceAfterMs;
