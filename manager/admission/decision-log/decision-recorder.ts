import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Decision } from '../scheduling/decision.ts';
import {
  DECISION_LOG_VERSION,
  formatLogLine,
  objectName,
  type LoggedSettings,
  type LogHead,
  type LogLine,
  type LogLooked,
} from './decision-log.ts';
import { partsOf } from './logged-decisions.ts';
import { loggable, loggedObject, type SetupObjects } from './logged-object.ts';
import { isToldAnew, loggedJob } from './logged-workload.ts';
import type { Workload } from '../workload/workload.ts';

/** Where the lines of the decision log go. Nothing here waits, fails, or keeps more than its bound. */
export interface LineSink {
  /** Takes a line, or loses it: then false. */
  write(line: string): boolean;
  /** After a loss: there is room for more than a few lines again. */
  hasRoom(): boolean;
  /** What follows goes to a new file, where there are files; false where there are none. */
  rotate(): boolean;
  /** Bytes from which on a file is to be followed by the next; undefined: there are no files. */
  readonly fileBytesMax: number | undefined;
  /** So many lines could not be told. */
  lost(lines: number): void;
  /** How many lines were lost since this was asked last. */
  takeLost(): number;
}

/** Writes down what admission sees and decides, in that order. It costs nothing while nobody leads, and little then. */
export interface DecisionRecorder {
  /** This manager leads from now on: tells all that there is, over the next moments. */
  start(): void;
  stop(): void;
  /** Setup may have changed. */
  setup(): void;
  /** A Job as admission has just seen it; `arrival`: its place in the order of arrival; `anew`: one that waits held something until now, or one that goes on holds less than before. */
  seen(workload: Workload, arrival: number, anew?: boolean): void;
  /** A Job holds and asks for nothing any more; `Undone`: its admission could not be written. */
  ended(key: string, how: 'Finished' | 'Deleted' | 'Undone'): void;
  /** A pass over the queues begins. */
  pass(): void;
  cycle(nowMs: number, most: number, decisions: readonly Decision[]): void;
  /** The pass is over. */
  looked(because: LogLooked['because']): void;
}

export type DecisionRecorderDeps = {
  readonly sink: LineSink;
  readonly settings: LoggedSettings;
  readonly objects: () => SetupObjects;
  /** Everyone that waits or holds something, in any order; `arrival` as above. */
  readonly workloads: () => Iterable<{ readonly workload: Workload; readonly arrival: number }>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls back in a moment. */
  readonly soon: (callback: () => void) => void;
};

/** Jobs told at a time, so that a section of many is not one long pause. */
const TOLD_AT_ONCE = 250;

type Told = { readonly object: DeepReadonly<KubeObject>; readonly text: string };

export function createDecisionRecorder({ sink, settings, objects, workloads, now, soon }: DecisionRecorderDeps): DecisionRecorder {
  let state: 'off' | 'telling' | 'whole' | 'lost' = 'off';
  /** Sections are told from one iterator each: one that was given up tells no more. */
  let section = 0;
  let fileBytes = 0;
  let bytesSinceWhole = 0;
  let cycles = 0;
  let isFirst = false;
  let hasChanged = false;
  const told = new Map<string, Workload>();
  const objectsTold = new Map<string, Told>();

  /** False when the line is lost: what was told does not hold together any more. */
  const tell = (line: LogLine): boolean => {
    const text = formatLogLine(line);
    if (!sink.write(text)) {
      state = 'lost';
      told.clear();
      objectsTold.clear();
      sink.lost(1);
      return false;
    }
    fileBytes += text.length;
    bytesSinceWhole += text.length;
    hasChanged = true;
    return true;
  };

  const begin = (because: LogHead['because']): void => {
    told.clear();
    objectsTold.clear();
    section++;
    state = 'telling';
    const lost = sink.takeLost();
    const head = {
      kind: 'log',
      version: DECISION_LOG_VERSION,
      at: now(),
      because,
      ...(lost > 0 ? { dropped: lost } : {}),
      settings,
    } as const;
    if (!tell(head) || !tellSetup()) return;
    tellJobs(workloads()[Symbol.iterator](), section);
  };

  const tellJobs = (jobs: Iterator<{ readonly workload: Workload; readonly arrival: number }>, of: number): void => {
    if (state !== 'telling' || of !== section) return;
    for (let count = 0; count < TOLD_AT_ONCE; count++) {
      const next = jobs.next();
      if (next.done === true) {
        state = 'whole';
        tell({ kind: 'whole', at: now() });
        bytesSinceWhole = 0;
        return;
      }
      const { workload, arrival } = next.value;
      if (!told.has(workload.key) && !tellJob(workload, arrival)) return;
    }
    soon(() => tellJobs(jobs, of));
  };

  const tellJob = (workload: Workload, arrival: number): boolean => {
    if (!tell({ kind: 'job', at: now(), ...loggedJob(workload, arrival) })) return false;
    told.set(workload.key, workload);
    return true;
  };

  const tellSetup = (): boolean => {
    const gone = new Set(objectsTold.keys());
    for (const { kind, object } of loggable(objects())) {
      const name = objectName({ kind, metadata: object.metadata });
      gone.delete(name);
      const before = objectsTold.get(name);
      if (before?.object === object) continue;
      const logged = loggedObject(kind, object);
      const text = JSON.stringify(logged);
      if (before?.text !== text && !tell({ kind: 'object', at: now(), object: logged })) return false;
      objectsTold.set(name, { object, text });
    }
    for (const name of gone) {
      objectsTold.delete(name);
      if (!tell({ kind: 'gone', at: now(), object: name })) return false;
    }
    return true;
  };

  /** Whether what happens now can be told. Where lines were lost, and there is room again, a new section tells it. */
  const isTold = (): boolean => {
    if (state === 'off') return false;
    if (state !== 'lost') return true;
    if (sink.hasRoom()) begin('gap');
    else sink.lost(1);
    return false;
  };

  const first = (): { readonly first?: true } => {
    const was = isFirst;
    isFirst = false;
    return was ? { first: true } : {};
  };

  return {
    start: () => {
      cycles = 0;
      begin('start');
    },
    stop: () => {
      state = 'off';
      told.clear();
      objectsTold.clear();
    },
    setup: () => {
      if (isTold()) tellSetup();
    },
    seen: (workload, arrival, anew = false) => {
      if (!isTold()) return;
      const { key, phase } = workload;
      const before = told.get(key);
      if (before === undefined || before.uid !== workload.uid) return void tellJob(workload, arrival);
      if (phase === 'Pending' && (anew || before.phase !== 'Pending' || isToldAnew(workload, before)))
        return void tellJob(workload, arrival);
      told.set(key, workload);
      if (phase === 'Pending') tell({ kind: 'again', at: now(), job: key });
      else if (phase === 'Evicting' || phase === 'Unrecorded') {
        if (before.phase !== phase) tell({ kind: 'phase', at: now(), job: key, phase: 'Evicting' });
      } else if (anew && phase === 'Admitted')
        tell({ kind: 'phase', at: now(), job: key, phase: 'Admitted', ...omitUndefined({ needed: workload.podsNeeded }) });
    },
    ended: (key, how) => {
      // Whoever was not told yet in this section may have been in the one before.
      if (!isTold() || (!told.delete(key) && state === 'whole')) return;
      tell({ kind: 'end', at: now(), job: key, how });
    },
    pass: () => {
      isFirst = true;
    },
    cycle: (nowMs, most, decisions) => {
      cycles++;
      if (!isTold()) return;
      tell({ kind: 'cycle', at: nowMs, cycle: cycles, ...first(), most, ...partsOf(decisions) });
    },
    looked: (because) => {
      if (!hasChanged || !isTold()) return;
      tell({ kind: 'looked', at: now(), ...first(), because });
      hasChanged = false;
      const { fileBytesMax } = sink;
      // What a section repeats is never more than half of what is written.
      const isFull = state === 'whole' && fileBytesMax !== undefined && fileBytes >= fileBytesMax && bytesSinceWhole * 2 >= fileBytes;
      if (!isFull || !sink.rotate()) return;
      fileBytes = 0;
      begin('rotation');
    },
  };
}
