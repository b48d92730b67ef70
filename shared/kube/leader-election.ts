import type { Lease } from '../api/kubernetes.ts';
import { LEASES } from '../api/resources.ts';
import { toWireMicroTime } from '../api/wire-time.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import { onAbort } from '../runtime/tasks.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import type { ReadClient, WriteClient } from './client.ts';
import { keyOf } from './keys.ts';
import { createLeaseDuration, type LeaseDuration } from './lease-duration.ts';
import { leaseWentBack, LeaseWentBack, renewalTime, withRestoreSeen } from './lease-history.ts';
import { claimNow, createLeaseHold, writableLeftMs, writableMs, type KeptLeaseHold, type LeaseClaim } from './lease-hold.ts';
import { CATCH_UP_AHEAD_MS } from './reflector.ts';

export type LeaderElectionOptions = {
  /** Over connections and with a rate limit of its own, because renewing the Lease must not wait behind the work. */
  readonly client: ReadClient & WriteClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * For how long others wait for a holder that does not renew the Lease, in whole seconds; longer while server or machine are slow. Absent:
   * 3 s.
   */
  readonly leaseDurationMs?: number;
  /** Told of every claim, for `fencedClient`. */
  readonly hold?: KeptLeaseHold;
  /** Told when it is known that it does not lead at once, or not known soon. Called once at most. */
  readonly onWaiting?: () => void;
  /** The holder has not renewed the Lease, which is over in about {@link EXPIRY_AHEAD_MS}. */
  readonly onExpiring?: () => void;
  /** The Lease shows that its cluster was restored from an older backup; told to whoever leads or waits, which then ends. */
  readonly onWentBack?: (error: Error) => void;
};

/**
 * client-go's election on a Lease: expiry is judged by the local clock from when a change was last *seen*, so clock
 * skew between replicas does no harm. Waits for leadership, runs `lead` with a signal that aborts the moment it is to
 * stop, because it was asked to or because leadership is lost, and releases the lease on the way out. The second signal
 * aborts when leadership is lost, also while `lead` is putting down its work: somebody else leads from then on, so
 * nothing may be written any more (`fenced-client.ts` sees to that).
 *
 * Other than there, a leader that cannot renew in time does not end: its writes wait (`lease-hold.ts`), and go on with the next renewal,
 * which is conditional on the one before it and so proves that nobody else has led meanwhile. It has lost when somebody else has the Lease,
 * or after thirty seconds. Who waits counts no time in which the server did not answer: the holder could not renew then either.
 *
 * Resolves when `signal` aborts, leadership is lost or the cluster went back in time (the program then exits and starts anew).
 */
export async function runAsLeader(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal, lost: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const candidate = new Candidate(options);
  if (!(await candidate.acquire(signal))) return;
  const leadership = new AbortController();
  const stepDown = (): void => leadership.abort(signal.reason);
  onAbort(signal, stepDown);
  const lost = new AbortController();
  const done = new AbortController();
  // The lease is renewed until the leader has put down its work, so that no successor overlaps with it.
  const renewing = candidate.keepRenewing(done.signal, () => {
    lost.abort(new Error('leadership lost'));
    leadership.abort(lost.signal.reason);
  });
  try {
    await lead(leadership.signal, lost.signal);
  } finally {
    signal.removeEventListener('abort', stepDown);
    done.abort();
    await renewing;
    await candidate.release();
  }
}

export const DEFAULT_LEASE_DURATION_MS = 3_000;
/** No answer is waited for longer, unless a Lease that long is asked for. */
const ANSWER_MS_MAX = 5_000;
/** Renewals, and looks of those who wait, within one duration. */
const LOOKS = 6;
/** Nobody leads for so long, or somebody does of whom this one cannot hear. */
const GIVE_UP_MS = 30_000;
/** Who is not answered for so long may have to wait. */
const UNANSWERED_MS = 2_000;
/** For what is still to be said at the end: the program goes on ending when nobody answers. */
const LAST_WORDS_MS = 2_000;
/** Time before the end of somebody else's Lease at which its end is announced: whoever leads then has to catch up. */
const EXPIRY_AHEAD_MS = CATCH_UP_AHEAD_MS;
/** So that candidates do not all ask at once. When the lease is over none of them waits: then one must lead. */
const LOOK_JITTER = 0.2;

class Candidate {
  readonly #options: LeaderElectionOptions;
  readonly #log: Logger;
  readonly #hold: KeptLeaseHold;
  readonly #duration: LeaseDuration;
  /** The lease as last seen, and when by our own steady clock it was first seen like this. */
  #seen: Lease | undefined;
  #seenAtMs = 0;
  /** {@link #seenAtMs} of the lease whose end was announced last. */
  #announcedAtMs: number | undefined;
  /** The claim that the server has accepted last. */
  #claim: LeaseClaim | undefined;
  #leading = false;
  /** The last look was not answered. */
  #unanswered = false;
  /** What the lease was when it was last known: it never goes back to before that. */
  #known: Lease | undefined;
  #wentBack = false;
  /** As it was last read. */
  #found: Lease | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#hold = options.hold ?? createLeaseHold(options.clock);
    this.#duration = createLeaseDuration(options.clock, options.leaseDurationMs ?? DEFAULT_LEASE_DURATION_MS);
    this.#log = options.log.with({ lease: keyOf(options.namespace, options.name), identity: options.identity });
  }

  /** Waits until the lease is ours; false when `signal` aborts first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random } = this.#options;
    this.#log.info('waiting for leadership');
    let isToldOf = false;
    const waits = (): void => {
      if (!isToldOf) this.#options.onWaiting?.();
      isToldOf = true;
    };
    const unanswered = clock.schedule(waits, UNANSWERED_MS);
    try {
      while (!signal.aborted && !this.#wentBack) {
        // An answer that was too long on its way tells of a lease that may be somebody else's by now.
        if ((await this.#tryOnce(signal)) && this.#claim !== undefined && writableLeftMs(clock, this.#claim) > 0) {
          this.#leading = true;
          this.#hold.accepted(this.#claim);
          this.#log.info('leadership acquired');
          return true;
        }
        waits();
        const remainingMs = this.#othersRemainingMs();
        const isExpiring = remainingMs <= EXPIRY_AHEAD_MS;
        if (isExpiring) this.#announceExpiry();
        const untilMs = isExpiring ? remainingMs : remainingMs - EXPIRY_AHEAD_MS;
        await this.#duration.pause(Math.min(this.#lookEveryMs() * (1 + LOOK_JITTER * random()), untilMs), signal);
      }
      return false;
    } finally {
      unanswered.cancel();
    }
  }

  #announceExpiry(): void {
    if (this.#announcedAtMs !== this.#seenAtMs) this.#options.onExpiring?.();
    this.#announcedAtMs = this.#seenAtMs;
  }

  /** Until the lease that somebody else holds is over, unless it is renewed. Where that is not known, for ever. */
  #othersRemainingMs(): number {
    const remainingMs = this.#seenAtMs + (this.#seen?.spec?.leaseDurationSeconds ?? 0) * 1000 - this.#options.clock.monotonic();
    return this.#heldByOther() && remainingMs > 0 ? remainingMs : Number.POSITIVE_INFINITY;
  }

  /** Renews until `done` aborts. Calls `lost` once when somebody else holds the lease or it could not be renewed for too long. */
  async keepRenewing(done: AbortSignal, lost: () => void): Promise<void> {
    const { clock } = this.#options;
    const over = new AbortController();
    onAbort(done, () => over.abort());
    const lose = (): void => {
      this.#leading = false;
      this.#log.error('leadership lost');
      over.abort();
      this.#hold.lost(new Error('leadership lost'));
      lost();
    };
    // A timer of its own, because the renewal that fails to come back may be hanging in a request.
    const giveUp = (): Timer => clock.schedule(lose, GIVE_UP_MS + (this.#claim?.madeMs ?? 0) - clock.monotonic());
    let deadline = giveUp();
    let triedMs = clock.monotonic();
    while (!over.signal.aborted) {
      // The next one counts from when it is sent as well, so that it does not wait for longer because this one was answered late.
      await this.#duration.pause(Math.max(0, triedMs + this.#lookEveryMs() - clock.monotonic()), over.signal);
      if (over.signal.aborted) break;
      triedMs = clock.monotonic();
      if (await this.#tryOnce(over.signal)) {
        deadline.cancel();
        if (!over.signal.aborted) deadline = giveUp();
      } else if ((this.#isTaken() || this.#wentBack) && !over.signal.aborted) {
        deadline.cancel();
        lose();
      }
    }
    deadline.cancel();
  }

  #lookEveryMs(): number {
    return this.#duration.ms() / LOOKS;
  }

  /** One call, which is waited for no longer than its claim would let us write; nor for long on a connection that may be dead. */
  async #call<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, leaseDurationMs = DEFAULT_LEASE_DURATION_MS } = this.#options;
    const limitMs = Math.min(writableMs(this.#duration.ms()), Math.max(ANSWER_MS_MAX, writableMs(leaseDurationMs)));
    return this.#duration.timed(() => withDeadline(clock, limitMs, signal, call));
  }

  /** Gives the lease up, so that a successor need not wait for it to expire. */
  async release(): Promise<void> {
    if (!this.#leading) return;
    this.#leading = false;
    this.#hold.released();
    if (this.#seen === undefined) return;
    const seen = this.#seen;
    try {
      await withDeadline(this.#options.clock, LAST_WORDS_MS, undefined, (signal) => this.#letGo(seen, signal));
      this.#log.info('leadership released');
    } catch (error) {
      this.#log.warn('releasing the lease failed, it will expire', { error });
    }
  }

  /** A renewal of which the answer was lost, or not waited for, has made it another version. */
  async #letGo(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, clock, identity } = this.#options;
    const time = toWireMicroTime(renewalTime(clock.now(), lease.spec));
    const { leaseTransitions = 0 } = lease.spec ?? {};
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time, leaseTransitions };
    try {
      await client.replace(LEASES, { ...lease, spec }, { signal });
    } catch (error) {
      const current = isConflict(error) ? await this.#readUnjudged(signal) : undefined;
      if (current?.spec?.holderIdentity !== identity || current.metadata.resourceVersion === lease.metadata.resourceVersion) throw error;
      await this.#letGo(current, signal);
    }
  }

  #heldByOther(): boolean {
    const holder = this.#seen?.spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.#options.identity;
  }

  /** Also where whoever took it has let go of it since. */
  #isTaken(): boolean {
    return this.#seen !== undefined && this.#seen.spec?.holderIdentity !== this.#options.identity;
  }

  /** Takes or renews the lease if it is free, expired or ours. Failures are logged and mean no. */
  async #tryOnce(signal: AbortSignal, isSecondLook = false): Promise<boolean> {
    try {
      return await this.#takeOrRenew(signal);
    } catch (error) {
      if (error instanceof LeaseWentBack) {
        this.#wentBack = true;
        this.#log.error('the cluster of the lease went back in time', { error });
        this.#options.onWentBack?.(error);
        if (this.#leading) await this.#tellOthers();
        return false;
      }
      // Two candidates met; the other one was faster, or it is gone. A leader must know at once whether it still is one.
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) {
        this.#seen = undefined;
        return this.#leading && !isSecondLook ? this.#tryOnce(signal, true) : false;
      }
      this.#unanswered = true;
      if (!signal.aborted) this.#log.warn('the lease could not be read or written', { error });
      return false;
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    // A leader writes upon what it wrote last, without reading; a conflict makes it look.
    if (!this.#leading || this.#seen === undefined) {
      const current = await this.#read(signal);
      if (current === undefined) {
        // Its holder may write until its time is over, and learns of it with its next renewal.
        if (!this.#leading && Number.isFinite(this.#othersRemainingMs())) return false;
        return this.#claimWith(
          (spec, each) => client.create(LEASES, { metadata: { namespace, name }, spec }, { signal: each }),
          undefined,
          signal,
        );
      }
      if (this.#see(current) === 'valid' && this.#heldByOther()) return false;
      // Whoever has held it meanwhile has worked on from what it found.
      if (this.#leading && this.#isTaken()) return false;
    }
    const current = this.#seen;
    if (current === undefined) return false;
    return this.#claimWith((spec, each) => client.replace(LEASES, { ...current, spec }, { signal: each }), current, signal);
  }

  async #claimWith(
    write: (spec: NonNullable<Lease['spec']>, signal: AbortSignal) => Promise<Lease>,
    current: Lease | undefined,
    signal: AbortSignal,
  ): Promise<true> {
    const claim = claimNow(this.#options.clock, this.#duration.ms());
    if (this.#leading) this.#hold.sending(claim);
    const claimed = await this.#call(signal, (each) => write(this.#specOf(current, claim), each));
    this.#check(claimed);
    this.#see(claimed);
    this.#claim = claim;
    const lateMs = this.#leading ? this.#hold.accepted(claim) : 0;
    if (lateMs > 0) this.#log.warn('the lease was renewed late: writes have waited, and go on', { lateMs: Math.ceil(lateMs) });
    return true;
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const current = await this.#readUnjudged(signal);
    this.#found = current;
    this.#check(current);
    return current;
  }

  /** Whoever waits may look again only after it has been renewed, and would see nothing. */
  async #tellOthers(): Promise<void> {
    const { client, clock } = this.#options;
    if (this.#found === undefined) return;
    const told = withRestoreSeen(this.#found);
    try {
      await withDeadline(clock, LAST_WORDS_MS, undefined, (signal) => client.replace(LEASES, told, { signal }));
    } catch (error) {
      this.#log.warn('it could not be noted on the lease that its cluster went back in time', { error });
    }
  }

  #check(lease: Lease | undefined): void {
    const { namespace, name } = this.#options;
    const wentBack = leaseWentBack(keyOf(namespace, name), this.#known, lease);
    if (wentBack !== undefined) throw wentBack;
  }

  async #readUnjudged(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await this.#call(signal, (each) => client.get(LEASES, { namespace, name }, { signal: each }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Remembers the lease, and judges by our own clock whether its time is up. Nothing counts that was before the server did not answer. */
  #see(lease: Lease): 'valid' | 'expired' {
    const nowMs = this.#options.clock.monotonic();
    if (this.#unanswered || lease.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) this.#seenAtMs = nowMs;
    this.#unanswered = false;
    this.#seen = lease;
    this.#known = lease;
    return this.#seenAtMs + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 > nowMs ? 'valid' : 'expired';
  }

  #specOf(current: Lease | undefined, claim: LeaseClaim): NonNullable<Lease['spec']> {
    const { identity } = this.#options;
    const previous = current?.spec;
    const time = toWireMicroTime(renewalTime(claim.madeTimeMs, previous));
    const ours = previous?.holderIdentity === identity;
    const { leaseTransitions = 0, acquireTime = time } = previous ?? {};
    return {
      holderIdentity: identity,
      leaseDurationSeconds: claim.durationMs / 1_000,
      acquireTime: ours ? acquireTime : time,
      renewTime: time,
      leaseTransitions: previous === undefined || ours ? leaseTransitions : leaseTransitions + 1,
    };
  }
}
