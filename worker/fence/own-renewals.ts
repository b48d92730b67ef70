/**
 * Keeps the worker's own Leases. Each renewal is a mark in time as well: a version of a manager's Lease that is newer than what the server
 * had then was written after the renewal was sent.
 */
import type { WorkerAnnouncement } from '../../shared/api/fence-leases.ts';
import { WORKER_LABEL } from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import { LeaseWentBack } from '../../shared/kube/lease-history.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createWakeUp, type WakeUp } from '../../shared/runtime/wake-up.ts';
import type { Fences } from './fences.ts';
import type { LeasePlace, LeasePlaces } from './lease-places.ts';

export type OwnRenewalsDeps = {
  readonly client: Pick<ReadClient, 'list'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fences: Pick<Fences, 'tell' | 'token' | 'mark' | 'renewalsSeen'>;
  readonly places: Pick<LeasePlaces, 'arming' | 'usable'>;
  readonly fenceAfterMs: number;
  readonly renewEveryMs: number;
  readonly announced: Pick<WorkerAnnouncement, 'controllerName' | 'version'>;
  readonly fencedKinds: () => readonly string[];
  /** A renewal is about to be sent. */
  readonly onDue: () => void;
  /** A renewal was answered, or its answer is late: watches that are silent may be dead. */
  readonly onDoubt: (signal: AbortSignal) => void;
  readonly onWentBack: (error: Error) => void;
};

export interface OwnRenewals {
  /** Renews until the signal aborts. Failures are logged and tried again. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** There is something else to announce. */
  wake(): void;
}

/** So often at least the worker's Lease is renewed within the time after which a fence trips. */
const RENEWALS_WITHIN_FENCE = 6;
const RENEW_EVERY_MS = 10_000;
const RETRY_MS = 2_000;
/**
 * A renewal of the worker's own Lease counts from when it was sent, so that waiting longer for its answer gives no extra time: an API
 * server that is overloaded has this share of the time after which a fence trips.
 */
const ANSWER_SHARE = 1 / 2;
const ANSWER_MS_MIN = 5_000;

/** `fenceAfterMs`: 0 is for ever. */
export const renewEveryMsOf = (fenceAfterMs: number): number =>
  fenceAfterMs === 0 ? RENEW_EVERY_MS : Math.min(RENEW_EVERY_MS, fenceAfterMs / RENEWALS_WITHIN_FENCE);

export function createOwnRenewals(deps: OwnRenewalsDeps): OwnRenewals {
  return new Renewals(deps);
}

class Renewals implements OwnRenewals {
  readonly #deps: OwnRenewalsDeps;
  readonly #answerLimitMs: number;
  readonly #wakeUp: WakeUp;

  constructor(deps: OwnRenewalsDeps) {
    this.#deps = deps;
    this.#answerLimitMs = Math.max(deps.renewEveryMs, ANSWER_MS_MIN, deps.fenceAfterMs * ANSWER_SHARE);
    this.#wakeUp = createWakeUp(deps.clock);
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { onDue, clock, onDoubt, renewEveryMs } = this.#deps;
    let next: Timer | undefined;
    await this.#wakeUp.run(async () => {
      next?.cancel();
      onDue();
      const sentMs = clock.monotonic();
      const renewed = await this.#renew(sentMs, signal);
      onDoubt(signal);
      // The next one counts from when it is sent as well, so that it does not wait for longer because this one was answered late.
      const leftMs = Math.max(0, sentMs + renewEveryMs - clock.monotonic());
      next = clock.schedule(this.#wakeUp.wake, renewed ? leftMs : Math.min(renewEveryMs, RETRY_MS));
    }, signal);
    next?.cancel();
  }

  async #renew(sentMs: number, signal: AbortSignal): Promise<boolean> {
    const { fences, places, fenceAfterMs, fencedKinds, announced, onWentBack, log } = this.#deps;
    const fenceToken = fences.tell(sentMs);
    const answer = this.#awaitAnswer(fenceToken, sentMs, signal);
    const fenceAfterSeconds = places.arming() === 'Refused' ? 0 : Math.ceil(fenceAfterMs / 1000);
    const fence = { fenceAfterSeconds, fenceToken, fencedKinds: fenceAfterSeconds === 0 ? [] : fencedKinds() };
    const announcement = { ...announced, ...fence, renewalsSeen: fences.renewalsSeen(sentMs) };
    const renewIn = async (place: LeasePlace): Promise<boolean> => {
      try {
        fences.mark(await place.renew(announcement, answer.signal), sentMs);
        return true;
      } catch (error) {
        if (error instanceof LeaseWentBack) onWentBack(error);
        if (!signal.aborted) log.warn('the Lease of this worker could not be renewed, trying again', { namespace: place.namespace, error });
        return false;
      }
    };
    try {
      const renewed = await Promise.all(places.usable().map(renewIn));
      // Without a mark the renewals of managers would count for less and less.
      if (!renewed.includes(true) && !answer.signal.aborted) await this.#markByReading(answer.signal);
      return !renewed.includes(false);
    } finally {
      answer.over();
    }
  }

  /** Aborts when an answer is waited for no longer: after its share of the fence, and sooner when there is a new token to announce. */
  #awaitAnswer(fenceToken: string, sentMs: number, signal: AbortSignal): { readonly signal: AbortSignal; over(): void } {
    const { renewEveryMs, clock, fences, onDoubt } = this.#deps;
    const limit = new AbortController();
    const either = AbortSignal.any([signal, limit.signal]);
    const lookAgainMs = Math.max(renewEveryMs, ANSWER_MS_MIN);
    const look = (): Timer =>
      clock.schedule(
        () => {
          const waitedMs = clock.monotonic() - sentMs;
          if (fences.token() !== fenceToken || waitedMs >= this.#answerLimitMs) limit.abort(new Error(`no answer within ${waitedMs} ms`));
          else {
            // Another connection may be answered where this one is dead.
            onDoubt(signal);
            void this.#markByReading(either);
            timer = look();
          }
        },
        Math.min(lookAgainMs, Math.max(0, sentMs + this.#answerLimitMs - clock.monotonic())),
      );
    let timer = look();
    return { signal: either, over: () => timer.cancel() };
  }

  async #markByReading(signal: AbortSignal): Promise<void> {
    const { client, clock, places, fences, log } = this.#deps;
    const sentMs = clock.monotonic();
    const namespace = places.usable()[0]?.namespace;
    try {
      const read = await withDeadline(clock, this.#answerLimitMs, signal, (each) =>
        client.list(LEASES, {
          ...(namespace !== undefined && { namespace }),
          labelSelector: WORKER_LABEL,
          limit: 1,
          signal: each,
        }),
      );
      fences.mark(read.resourceVersion, sentMs);
    } catch (error) {
      log.debug('the Leases could not be read either', { error });
    }
  }
}
