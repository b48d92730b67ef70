import { toWireTime } from '../api/wire-time.ts';
import { sleep, type Clock } from './clock.ts';
import type { InvariantMetrics } from './invariant-metrics.ts';
import type { InvariantDump, InvariantReport } from './invariant-report.ts';
import type { Logger } from './logger.ts';
import { createTimeSlices } from './time-slices.ts';
import { createViolations, type Finding, type Violation } from './violations.ts';

/**
 * Looks whether promises hold on a running system, in what its caches have. It looks soon at what has changed, at what was suspicious at
 * the last look, and at all the rest in turns: a slice of it each time. No event is answered with a look, and no look makes an API call.
 */
export interface InvariantWatch {
  /** Something has changed about this subject. */
  changed(subject: string): void;
  /** Looks until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** What is violated now, and what was seen when violations began: for a bug report. */
  report(): InvariantReport;
}

export type InvariantWatchOptions<I extends string> = {
  /** How long a finding must last to be a violation, by invariant. */
  readonly graceMs: Readonly<Record<I, number>>;
  /** What part of that is given; absent: all. */
  readonly patience?: number;
  /** Begins a round of looks: what has to be known of the whole. Called before the looks of each turn. */
  readonly begin?: () => void;
  /** Looks at one subject. Pure, but for the caches. */
  readonly findingsOf: (subject: string) => readonly Finding<I>[];
  /** All subjects, some of them perhaps twice. Asked for once in a round over all of them. */
  readonly subjects: () => Iterable<string>;
  /** What is kept of a subject for a bug report: JSON. */
  readonly seen: (subject: string) => unknown;
  /** A violation has begun. */
  readonly onViolation: (violation: Violation<I>) => void;
  readonly metrics: InvariantMetrics;
  readonly clock: Clock;
  readonly log: Logger;
};

/** What is logged, once, when a violation begins. */
export const BROKEN_PROMISE = 'a promise is broken: please report it, with all that this line says';

const TURN_MS = 5_000;
/** So many subjects that have changed are looked at in a turn, so many that were suspicious, and so many of all in order. */
const CHANGED_PER_TURN = 2_000;
const SUSPECTS_PER_TURN = 1_000;
const SLICE = 500;
const DUMPS_MAX = 50;
/** A turn takes longer than others should wait. */
const AT_ONCE_MS = 10;

export function createInvariantWatch<I extends string>(options: InvariantWatchOptions<I>): InvariantWatch {
  const { graceMs, patience = 1, begin, findingsOf, subjects, seen, onViolation, metrics, clock, log } = options;
  const invariants = Object.keys(graceMs) as I[];
  const violations = createViolations((invariant: I) => patience * graceMs[invariant], invariants);
  const changed = new Set<string>();
  let round: Iterator<string> = [][Symbol.iterator]();
  const dumps = new Dumps();
  const tell = (): void => {
    for (const [invariant, count] of violations.counts()) metrics.violations.set({ invariant }, count);
  };
  for (const invariant of invariants) metrics.checks.inc({ invariant }, 0);
  tell();

  const began = (violation: Violation<I>): void => {
    const { invariant, subject, message } = violation;
    const dump = { invariant, subject, message, begun: toWireTime(clock.now()), seen: seen(subject) };
    log.error(BROKEN_PROMISE, dump);
    dumps.add(dump);
    onViolation(violation);
  };
  const ended = ({ invariant, subject, message }: Violation<I>): void => {
    log.info('a promise that was broken holds again', { invariant, subject });
    dumps.ended(subject, message, toWireTime(clock.now()));
  };
  const look = (subject: string): void => {
    const turn = violations.looked(subject, findingsOf(subject), clock.monotonic());
    for (const each of turn.begun) began(each);
    for (const each of turn.ended) ended(each);
  };

  let roundIsOver = false;
  /** Each but once. */
  function chosen(): ReadonlySet<string> {
    const all = new Set<string>();
    for (const subject of violations.suspects()) if (all.size < SUSPECTS_PER_TURN) all.add(subject);
    let left = CHANGED_PER_TURN;
    for (const subject of changed) {
      if (left-- === 0) break;
      changed.delete(subject);
      all.add(subject);
    }
    for (let count = 0; count < SLICE; count++) {
      const { value, done } = round.next();
      if (done === true) {
        roundIsOver = true;
        break;
      }
      all.add(value);
    }
    return all;
  }

  return {
    changed: (subject) => void changed.add(subject),
    async run(signal) {
      for (;;) {
        await sleep(clock, TURN_MS, signal);
        if (signal.aborted) return;
        begin?.();
        const slices = createTimeSlices(clock, AT_ONCE_MS);
        if (roundIsOver) {
          // The names alone: a round takes long, and would keep what they stand for as it was.
          const names: string[] = [];
          for (const subject of subjects()) if (names.push(subject) % 1_000 === 0) await slices.nextWhenOver(signal);
          round = names[Symbol.iterator]();
          roundIsOver = false;
        }
        const now = chosen();
        for (const subject of now) {
          await slices.nextWhenOver(signal);
          if (signal.aborted) return;
          look(subject);
        }
        if (now.size > 0) for (const invariant of invariants) metrics.checks.inc({ invariant }, now.size);
        tell();
      }
    },
    report: () => ({ violations: Object.fromEntries(violations.counts()), dumps: dumps.all() }),
  };
}

/** What was seen of broken promises, the newest first. */
class Dumps {
  readonly #dumps: InvariantDump[] = [];

  add(dump: InvariantDump): void {
    this.#dumps.unshift(dump);
    this.#dumps.length = Math.min(this.#dumps.length, DUMPS_MAX);
  }

  ended(subject: string, message: string, ended: string): void {
    const at = this.#dumps.findIndex((dump) => dump.subject === subject && dump.message === message && dump.ended === undefined);
    const dump = this.#dumps[at];
    if (dump !== undefined) this.#dumps[at] = { ...dump, ended };
  }

  all(): InvariantDump[] {
    return [...this.#dumps];
  }
}
