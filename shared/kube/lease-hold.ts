import type { Clock, Timer } from '../runtime/clock.ts';

/**
 * For how long the holder of an election's Lease may write. A claim counts from before it was sent, and for two thirds of its duration:
 * others count the whole of it from when they have seen the claim. After that nobody need have taken over: writes wait until the Lease has
 * been renewed, which proves that nobody has.
 */
export interface LeaseHold {
  /**
   * Resolves once a write may be sent: at once while the Lease is held, and before the first claim. Rejects when `signal` aborts first, or
   * the Lease is lost.
   */
  writable(signal?: AbortSignal): Promise<void>;
  /** Aborts when others may take over, for what is under way then. There is a new one after the next renewal. */
  undisputed(): AbortSignal;
}

/** What the election tells of its claims. */
export interface KeptLeaseHold extends LeaseHold {
  /**
   * A claim is about to be sent, and may be carried out without being answered: where it ends sooner than the one before it, that is when
   * the hold ends.
   */
  sending(claim: LeaseClaim): void;
  /** The server has accepted it. Returns for how many milliseconds writes could not be sent before. */
  accepted(claim: LeaseClaim): number;
  /** Nothing may be written any more. */
  lost(reason: Error): void;
  /** There is nothing to hold any more. */
  released(): void;
}

export type LeaseClaim = {
  /** When it was made: on the clock's `monotonic`, and by the time of day. */
  readonly madeMs: number;
  readonly madeTimeMs: number;
  readonly durationMs: number;
};

const WRITABLE_SHARE = 2 / 3;

/** How old a claim of this duration may be for its holder to write. The rest is for writes that are on their way. */
export const writableMs = (durationMs: number): number => durationMs * WRITABLE_SHARE;

export function claimNow(clock: Clock, durationMs: number): LeaseClaim {
  return { madeMs: clock.monotonic(), madeTimeMs: clock.now(), durationMs };
}

/**
 * Milliseconds since the claim was made. The steady clock may stand still while a machine sleeps, and the time of day is set: the one that
 * says later counts.
 */
export const claimAgeMs = (clock: Clock, { madeMs, madeTimeMs }: LeaseClaim): number =>
  Math.max(clock.monotonic() - madeMs, clock.now() - madeTimeMs);

/** For how many milliseconds this claim still lets its holder write. */
export const writableLeftMs = (clock: Clock, claim: LeaseClaim): number => writableMs(claim.durationMs) - claimAgeMs(clock, claim);

export function createLeaseHold(clock: Clock): KeptLeaseHold {
  /** All of these must let it write; none: nothing was claimed yet. */
  let claims: readonly LeaseClaim[] = [];
  let undisputed = new AbortController();
  let disputing: Timer | undefined;
  /** Those who wait look again when they are called. */
  const waiting = new Set<() => void>();
  let lost: Error | undefined;

  const leftMs = (): number => Math.min(...claims.map((claim) => writableLeftMs(clock, claim)));
  const lookAgain = (): void => {
    for (const look of waiting) look();
  };
  const disputed = (): void => undisputed.abort(new Error('the Lease was not renewed in time: another may lead'));

  return {
    async writable(signal) {
      while (lost !== undefined || leftMs() <= 0) {
        signal?.throwIfAborted();
        if (lost !== undefined) throw lost;
        const { promise, resolve } = Promise.withResolvers<void>();
        const look = (): void => resolve();
        signal?.addEventListener('abort', look, { once: true });
        waiting.add(look);
        await promise;
        waiting.delete(look);
        signal?.removeEventListener('abort', look);
      }
    },

    undisputed: () => undisputed.signal,

    sending(claim) {
      // Later and for no less time, it ends no sooner.
      if (claims.some(({ durationMs }) => claim.durationMs < durationMs)) claims = [...claims, claim];
    },

    accepted(claim) {
      const lateMs = Math.max(0, -leftMs());
      claims = [claim];
      disputing?.cancel();
      disputing = clock.schedule(disputed, Math.max(0, claim.madeMs + claim.durationMs - clock.monotonic()));
      if (undisputed.signal.aborted) undisputed = new AbortController();
      lookAgain();
      return Number.isFinite(lateMs) ? lateMs : 0;
    },

    lost(reason) {
      lost = reason;
      disputing?.cancel();
      undisputed.abort(reason);
      lookAgain();
    },

    released() {
      claims = [];
      disputing?.cancel();
      lookAgain();
    },
  };
}
