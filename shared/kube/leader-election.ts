import type { Lease } from '../api/kubernetes.ts';
import { LEASES } from '../api/resources.ts';
import { toWireMicroTime } from '../api/wire-time.ts';
import { sleep, type Clock } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import { onAbort } from '../runtime/tasks.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import type { ReadClient, WriteClient } from './client.ts';
import { keyOf } from './keys.ts';
import { leaseWentBack, LeaseWentBack, renewalTime, withRestoreSeen } from './lease-history.ts';

export type LeaderElectionOptions = {
  readonly client: ReadClient & WriteClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly leaseDurationMs?: number; // 15 s
  readonly renewDeadlineMs?: number; // 10 s
  readonly retryPeriodMs?: number; // 2 s
  /** Told when it is known that it does not lead at once, or not known soon. Called once at most. */
  readonly onWaiting?: () => void;
  /** The Lease shows that its cluster was restored from an older backup; told to whoever leads or waits, which then ends. */
  readonly onWentBack?: (error: Error) => void;
};

/**
 * client-go's election on a Lease: expiry is judged by the local clock from when a change was last *seen*, so clock
 * skew between replicas does no harm. Waits for leadership, runs `lead` with a signal that aborts the moment it is to
 * stop, because it was asked to or because leadership is lost, and releases the lease on the way out. The second signal
 * aborts when leadership is lost or cannot be renewed within the deadline, also while `lead` is putting down its work:
 * somebody else may lead from then on, so nothing may be written any more (`fenced-client.ts` sees to that).
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

const LEASE_DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_PERIOD_MS = 2_000;
/** For what is still to be said at the end: the program goes on ending when nobody answers. */
const LAST_WORDS_MS = 2_000;
/** client-go: candidates wait between one and 2.2 retry periods, so that they do not all ask at once. Not so when the lease is over: then one of them must lead. */
const RETRY_JITTER = 1.2;

class Candidate {
  readonly #options: LeaderElectionOptions;
  readonly #log: Logger;
  /** The lease as last seen, and when by our own clock it was first seen like this. */
  #seen: Lease | undefined;
  #seenAtMs = 0;
  /** When the claim that the server has accepted last was made: before it was sent, as others may count from then on. */
  #claimedAtMs = 0;
  #leading = false;
  /** What the lease was when it was last known: it never goes back to before that. */
  #known: Lease | undefined;
  #wentBack = false;
  /** As it was last read. */
  #found: Lease | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#log = options.log.with({ lease: keyOf(options.namespace, options.name), identity: options.identity });
  }

  /** Waits until the lease is ours; false when `signal` aborts first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random, retryPeriodMs = RETRY_PERIOD_MS } = this.#options;
    this.#log.info('waiting for leadership');
    let isToldOf = false;
    const waits = (): void => {
      if (!isToldOf) this.#options.onWaiting?.();
      isToldOf = true;
    };
    const unanswered = clock.schedule(waits, retryPeriodMs);
    try {
      while (!signal.aborted && !this.#wentBack) {
        // An answer that was too long on its way tells of a lease that may be somebody else's by now.
        if ((await this.#tryOnce(signal)) && this.#remainingMs() > 0) {
          this.#leading = true;
          this.#log.info('leadership acquired');
          return true;
        }
        waits();
        await sleep(clock, Math.min(retryPeriodMs * (1 + RETRY_JITTER * random()), this.#othersRemainingMs()), signal);
      }
      return false;
    } finally {
      unanswered.cancel();
    }
  }

  /** Until the lease that somebody else holds is over, unless it is renewed. Where that is not known, for ever. */
  #othersRemainingMs(): number {
    const nowMs = this.#options.clock.now();
    const remainingMs = this.#seenAtMs + (this.#seen?.spec?.leaseDurationSeconds ?? 0) * 1000 - nowMs;
    return this.#heldByOther() && remainingMs > 0 ? remainingMs : Number.POSITIVE_INFINITY;
  }

  /** Renews until `done` aborts. Calls `lost` once when somebody else holds the lease or it could not be renewed in time. */
  async keepRenewing(done: AbortSignal, lost: () => void): Promise<void> {
    const { clock, retryPeriodMs = RETRY_PERIOD_MS } = this.#options;
    const over = new AbortController();
    onAbort(done, () => over.abort());
    const lose = (): void => {
      this.#leading = false;
      this.#log.error('leadership lost');
      over.abort();
      lost();
    };
    // A timer of its own, because the renewal that fails to come back may be hanging in a request.
    let deadline = clock.schedule(lose, this.#remainingMs());
    while (!over.signal.aborted) {
      await sleep(clock, retryPeriodMs, over.signal);
      if (over.signal.aborted) break;
      if (await this.#tryOnce(over.signal)) {
        deadline.cancel();
        if (!over.signal.aborted) deadline = clock.schedule(lose, this.#remainingMs());
      } else if ((this.#heldByOther() || this.#wentBack) && !over.signal.aborted) {
        deadline.cancel();
        lose();
      }
    }
    deadline.cancel();
  }

  /** Gives the lease up, so that a successor need not wait for it to expire. */
  async release(): Promise<void> {
    if (!this.#leading || this.#seen === undefined) return;
    this.#leading = false;
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

  /** For how long the last claim lets this candidate lead. */
  #remainingMs(): number {
    const { clock, renewDeadlineMs = RENEW_DEADLINE_MS } = this.#options;
    return Math.max(0, this.#claimedAtMs + renewDeadlineMs - clock.now());
  }

  #heldByOther(): boolean {
    const holder = this.#seen?.spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.#options.identity;
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
      // Two candidates met; the other one was faster. A leader must know at once whether it still is one.
      if (isConflict(error) || isAlreadyExists(error)) {
        this.#seen = undefined;
        return this.#leading && !isSecondLook ? this.#tryOnce(signal, true) : false;
      }
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
        return this.#claimWith((claim) => client.create(LEASES, { metadata: { namespace, name }, spec: claim }, { signal }), undefined);
      }
      if (this.#see(current) === 'valid' && this.#heldByOther()) return false;
    }
    const current = this.#seen;
    if (current === undefined) return false;
    return this.#claimWith((claim) => client.replace(LEASES, { ...current, spec: claim }, { signal }), current);
  }

  async #claimWith(write: (claim: NonNullable<Lease['spec']>) => Promise<Lease>, current: Lease | undefined): Promise<true> {
    const claimedAtMs = this.#options.clock.now();
    const claimed = await write(this.#claim(current, claimedAtMs));
    this.#check(claimed);
    this.#see(claimed);
    this.#claimedAtMs = claimedAtMs;
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
      return await client.get(LEASES, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Remembers the lease, and judges by our own clock whether its time is up. */
  #see(lease: Lease): 'valid' | 'expired' {
    const nowMs = this.#options.clock.now();
    if (lease.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) this.#seenAtMs = nowMs;
    this.#seen = lease;
    this.#known = lease;
    return this.#seenAtMs + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 > nowMs ? 'valid' : 'expired';
  }

  #claim(current: Lease | undefined, nowMs: number): NonNullable<Lease['spec']> {
    const { identity, leaseDurationMs = LEASE_DURATION_MS } = this.#options;
    const previous = current?.spec;
    const time = toWireMicroTime(renewalTime(nowMs, previous));
    const ours = previous?.holderIdentity === identity;
    const { leaseTransitions = 0, acquireTime = time } = previous ?? {};
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: ours ? acquireTime : time,
      renewTime: time,
      leaseTransitions: previous === undefined || ours ? leaseTransitions : leaseTransitions + 1,
    };
  }
}
