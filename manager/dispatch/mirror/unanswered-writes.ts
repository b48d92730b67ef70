import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Absence, Doubt } from './mirror-group.ts';

/**
 * Writes to the copies of one cluster that are in flight, or whose answer was lost. A lost answer counts as carried out, now or a little
 * later, until the object was read after that.
 */
export interface UnansweredWrites {
  /** `sinceMs`: the last admission of the Job, in epoch milliseconds; undefined while unknown. */
  of(localKey: string, sinceMs: number | undefined): Doubt;
  /** Whether a write for this Job was ever sent to this cluster. */
  has(localKey: string): boolean;
  /**
   * From when on no other manager can have written to this cluster, while this one has written nothing for the Job; undefined once it has.
   * Epoch milliseconds.
   */
  untouchedSinceMs(localKey: string): number | undefined;
  /** A write is being sent. */
  sent(localKey: string): void;
  /**
   * The write was answered, so its result is known. `nothingMade`: the answer proves that no copy was created. An earlier write for the
   * same Job may still be open.
   */
  answered(localKey: string, nothingMade?: boolean): void;
  /** The answer of the write was lost. */
  lost(localKey: string): void;
  /** The write was never sent: there was no connection. */
  unsent(localKey: string): void;
  /**
   * The copy, or its absence, was read after the last write. A write whose answer was lost a moment ago stays open, as it may be carried
   * out later.
   */
  resolved(localKey: string): void;
  /** This copy is in the list, or will be. */
  listed(localKey: string, copy: DeepReadonly<WorkObject>): void;
  /** This copy is not in the list, and this manager has not deleted it: it may exist without the label that lists it. */
  unlisted(localKey: string, copy: DeepReadonly<WorkObject>): void;
  unlistedCopy(localKey: string): DeepReadonly<WorkObject> | undefined;
  /** The copy was deleted while it ran: pods that its Job controller has asked for may be created for a while. */
  deletedUnstopped(localKey: string, copy: DeepReadonly<WorkObject>): void;
  /**
   * The name of the copy was read and not found, nor were pods, or this manager's deletion of the copy is complete. After this many
   * milliseconds it counts: 0 but for a copy that was deleted while it ran.
   */
  absent(localKey: string): number;
  /** What the absence of a listed copy means for the Job; for `sinceMs` see {@link UnansweredWrites.of}. */
  absence(localKey: string, sinceMs: number | undefined, isAnyListed?: boolean): Absence | undefined;
  /** The Job is gone. */
  forget(localKey: string): void;
}

/**
 * How long a request that its client has given up may still be carried out; the one bound for all lost answers. The API server ends a
 * request with its connection; what remains is what it had passed to its storage or to a webhook. Where the API server does not notice the
 * lost connection, it continues for 34 s from the start of the request (its bound for every write), after at most 15 s in its queue. The
 * client timeout of 15 s comes first, so that both together last as long. After this time the object is read, and a later effect appears as
 * a copy that the record does not know.
 */
export const LATE_WRITE_MS = 20_000;

type Open = { readonly inFlight: number; readonly untilMs: number };

/**
 * A former leader may have sent writes, too: for a while every Job admitted before this object was created is in doubt. `newestMs`: the
 * newest admission known now, in epoch milliseconds. It precedes this object, whatever the clock of the manager that made it said.
 */
export function createUnansweredWrites(clock: Clock, newestMs: number): UnansweredWrites {
  return new WritesOfCluster(clock, newestMs);
}

class WritesOfCluster implements UnansweredWrites {
  readonly #clock: Clock;
  readonly #bornMs: number;
  readonly #sinceBirthMs: number;
  readonly #open = new Map<string, Open>();
  readonly #touched = new Set<string>();
  readonly #left = new Map<string, DeepReadonly<WorkObject>>();
  readonly #absent = new Set<string>();
  readonly #unstoppedUntilMs = new Map<string, number>();

  constructor(clock: Clock, newestMs: number) {
    this.#clock = clock;
    this.#bornMs = clock.now();
    this.#sinceBirthMs = Math.max(this.#bornMs, newestMs + 1);
  }

  of(key: string, sinceMs: number | undefined): Doubt {
    const nowMs = this.#clock.now();
    const doubt = this.#open.get(key);
    if (doubt === undefined) {
      if (this.#left.has(key)) return LOOK;
      const forMs = sinceMs !== undefined && sinceMs >= this.#sinceBirthMs ? 0 : this.#bornMs + LATE_WRITE_MS - nowMs;
      return forMs > 0 ? { kind: 'Waiting', forMs } : NONE;
    }
    if (doubt.inFlight > 0) return { kind: 'Waiting', forMs: LATE_WRITE_MS };
    return doubt.untilMs > nowMs ? { kind: 'Waiting', forMs: doubt.untilMs - nowMs } : LOOK;
  }

  has(key: string): boolean {
    return this.#open.has(key) || this.#touched.has(key) || this.#left.has(key) || this.#absent.has(key);
  }

  untouchedSinceMs(key: string): number | undefined {
    return this.#touched.has(key) || this.#open.has(key) || this.#left.has(key) ? undefined : this.#sinceBirthMs;
  }

  sent(key: string): void {
    const { inFlight, untilMs } = this.#open.get(key) ?? { inFlight: 0, untilMs: 0 };
    this.#open.set(key, { inFlight: inFlight + 1, untilMs });
  }

  answered(key: string, nothingMade = false): void {
    this.#touched.add(key);
    if (!nothingMade) this.#absent.delete(key);
    this.unsent(key);
  }

  unsent(key: string): void {
    const doubt = this.#open.get(key);
    if (doubt === undefined) return;
    if (doubt.inFlight === 1 && doubt.untilMs === 0) this.#open.delete(key);
    else this.#open.set(key, { ...doubt, inFlight: doubt.inFlight - 1 });
  }

  lost(key: string): void {
    this.#touched.add(key);
    this.#absent.delete(key);
    const doubt = this.#open.get(key);
    if (doubt !== undefined) this.#open.set(key, { inFlight: doubt.inFlight - 1, untilMs: this.#clock.now() + LATE_WRITE_MS });
  }

  resolved(key: string): void {
    const doubt = this.#open.get(key);
    if (doubt?.inFlight === 0 && doubt.untilMs <= this.#clock.now()) this.#open.delete(key);
  }

  listed(key: string, { metadata }: DeepReadonly<WorkObject>): void {
    // No two objects have the same name.
    if (this.#left.get(key)?.metadata.name === metadata.name) this.#left.delete(key);
    this.#absent.delete(key);
  }

  unlisted(key: string, copy: DeepReadonly<WorkObject>): void {
    this.#left.set(key, copy);
    this.#absent.delete(key);
  }

  unlistedCopy(key: string): DeepReadonly<WorkObject> | undefined {
    return this.#left.get(key);
  }

  deletedUnstopped(key: string, copy: DeepReadonly<WorkObject>): void {
    this.unlisted(key, copy);
    this.#unstoppedUntilMs.set(key, this.#clock.now() + LATE_WRITE_MS);
  }

  absent(key: string): number {
    const waitMs = (this.#unstoppedUntilMs.get(key) ?? 0) - this.#clock.now();
    if (waitMs > 0) return waitMs;
    this.#unstoppedUntilMs.delete(key);
    this.#left.delete(key);
    this.#absent.add(key);
    return 0;
  }

  absence(key: string, sinceMs: number | undefined, isAnyListed = false): Absence | undefined {
    if (this.#left.has(key)) return 'Unlisted';
    if (this.#absent.has(key) || isAnyListed) return undefined;
    const isUntouched = !this.#touched.has(key) && !this.#open.has(key) && sinceMs !== undefined && sinceMs >= this.#sinceBirthMs;
    return isUntouched ? undefined : 'Open';
  }

  forget(key: string): void {
    this.#touched.delete(key);
    this.#open.delete(key);
    this.#left.delete(key);
    this.#unstoppedUntilMs.delete(key);
    this.#absent.delete(key);
  }
}

const NONE: Doubt = { kind: 'None' };
const LOOK: Doubt = { kind: 'Look' };
