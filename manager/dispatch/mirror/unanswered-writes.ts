import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Absence, Doubt } from './mirror-group.ts';

/**
 * What is not known of the copies on one cluster, because writes of ours are under way or their answers were lost. A lost answer counts as
 * carried out, now or a little later, until the object has been looked at after that.
 */
export interface UnansweredWrites {
  /** `sinceMs`: when the Job was last admitted; undefined while nobody knows. Epoch milliseconds. */
  of(localKey: string, sinceMs: number | undefined): Doubt;
  /** Whether something was ever sent here for this Job. */
  has(localKey: string): boolean;
  /**
   * From when on nobody but this manager has written here, which has written nothing for this Job; undefined once it has. Epoch
   * milliseconds.
   */
  untouchedSinceMs(localKey: string): number | undefined;
  /** A write is sent. */
  sent(localKey: string): void;
  /**
   * It was answered: what became of it is known, such as that `nothingMade` of it is there. An earlier one of the same Job may still be
   * open.
   */
  answered(localKey: string, nothingMade?: boolean): void;
  /** Nobody knows what became of it. */
  lost(localKey: string): void;
  /** It never left: there was no connection to send it on. */
  unsent(localKey: string): void;
  /**
   * A copy of it, or that there is none, was seen after the last write. One whose answer was lost a moment ago may be carried out after
   * that, and stays open.
   */
  settled(localKey: string): void;
  /** This copy is in the list, or will be. */
  listed(localKey: string, copy: DeepReadonly<Job>): void;
  /** This copy is not in the list, and nobody of ours has deleted it: it may be there without what it is listed by. */
  unlisted(localKey: string, copy: DeepReadonly<Job>): void;
  unlistedCopy(localKey: string): DeepReadonly<Job> | undefined;
  /** Nothing of it was there when its name was looked up, or what was there is gone by our own deletion. */
  absent(localKey: string): void;
  /** What no copy in the list says of the Job; for `sinceMs` see {@link UnansweredWrites.of}. */
  absence(localKey: string, sinceMs: number | undefined, isAnyListed?: boolean): Absence | undefined;
  /** The Job is gone. */
  forget(localKey: string): void;
}

/**
 * How long a request that its sender has given up may still be carried out: the one figure for all writes whose answer was lost. The API
 * server ends a request with its connection; what remains is what it had passed on to its storage or to a webhook by then. Where it does
 * not notice that the connection is gone, it goes on for 34 s from when it began (its bound for every write), after 15 s in its queue at
 * most; our own patience of 15 s lies before this time, so that both together last as long as that. When the time is over the object is
 * looked at, and what comes later yet is seen as a copy that the record does not know.
 */
export const LATE_WRITE_MS = 20_000;

type Open = { readonly inFlight: number; readonly untilMs: number };

/**
 * Whoever led before may have sent something, too: for a while there is doubt of every Job that was admitted before this. `newestMs`: the
 * newest admission that is known now, in epoch milliseconds. It was before this, whatever the time of day was by the clock of who made it.
 */
export function createUnansweredWrites(clock: Clock, newestMs: number): UnansweredWrites {
  const bornMs = clock.now();
  const sinceBirthMs = Math.max(bornMs, newestMs + 1);
  const open = new Map<string, Open>();
  const touched = new Set<string>();
  const left = new Map<string, DeepReadonly<Job>>();
  const absent = new Set<string>();
  const done = (key: string): void => {
    const doubt = open.get(key);
    if (doubt === undefined) return;
    if (doubt.inFlight === 1 && doubt.untilMs === 0) open.delete(key);
    else open.set(key, { ...doubt, inFlight: doubt.inFlight - 1 });
  };
  return {
    untouchedSinceMs: (key) => (touched.has(key) || open.has(key) || left.has(key) ? undefined : sinceBirthMs),
    has: (key) => open.has(key) || touched.has(key) || left.has(key) || absent.has(key),
    of(key, sinceMs) {
      const nowMs = clock.now();
      const doubt = open.get(key);
      if (doubt === undefined) {
        if (left.has(key)) return LOOK;
        const forMs = sinceMs !== undefined && sinceMs >= sinceBirthMs ? 0 : bornMs + LATE_WRITE_MS - nowMs;
        return forMs > 0 ? { kind: 'Waiting', forMs } : NONE;
      }
      if (doubt.inFlight > 0) return { kind: 'Waiting', forMs: LATE_WRITE_MS };
      return doubt.untilMs > nowMs ? { kind: 'Waiting', forMs: doubt.untilMs - nowMs } : LOOK;
    },
    sent(key) {
      const { inFlight, untilMs } = open.get(key) ?? { inFlight: 0, untilMs: 0 };
      open.set(key, { inFlight: inFlight + 1, untilMs });
    },
    answered(key, nothingMade = false) {
      touched.add(key);
      if (!nothingMade) absent.delete(key);
      done(key);
    },
    unsent: done,
    lost(key) {
      touched.add(key);
      absent.delete(key);
      const doubt = open.get(key);
      if (doubt !== undefined) open.set(key, { inFlight: doubt.inFlight - 1, untilMs: clock.now() + LATE_WRITE_MS });
    },
    settled(key) {
      const doubt = open.get(key);
      if (doubt?.inFlight === 0 && doubt.untilMs <= clock.now()) open.delete(key);
    },
    listed(key, { metadata }) {
      // No two objects have one name.
      if (left.get(key)?.metadata.name === metadata.name) left.delete(key);
      absent.delete(key);
    },
    unlisted(key, copy) {
      left.set(key, copy);
      absent.delete(key);
    },
    unlistedCopy: (key) => left.get(key),
    absent(key) {
      left.delete(key);
      absent.add(key);
    },
    absence(key, sinceMs, isAnyListed = false) {
      if (left.has(key)) return 'Unlisted';
      if (absent.has(key) || isAnyListed) return undefined;
      const isUntouched = !touched.has(key) && !open.has(key) && sinceMs !== undefined && sinceMs >= sinceBirthMs;
      return isUntouched ? undefined : 'Open';
    },
    forget(key) {
      touched.delete(key);
      open.delete(key);
      left.delete(key);
      absent.delete(key);
    },
  };
}

const NONE: Doubt = { kind: 'None' };
const LOOK: Doubt = { kind: 'Look' };
