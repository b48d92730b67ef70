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
import { loggedJob, neededOf, needsLogging, startingOf } from './logged-workload.ts';
import type { Workload } from '../workload/workload.ts';

/** The destination of log lines. It never blocks and never throws, and its memory is bounded. */
export interface LineSink {
  /** Writes a line; false if the line is lost. */
  write(line: string): boolean;
  /** Whether there is room again, after a loss, for more than a few lines. */
  hasRoom(): boolean;
  /** Continues in a new file; false if the sink has no files. */
  rotate(): boolean;
  /** The size in bytes from which a file is rotated; undefined without files. */
  readonly fileBytesMax: number | undefined;
  /** Counts lines that could not be logged. */
  lost(lines: number): void;
  /** Returns the number of lines lost since the last call. */
  takeLost(): number;
}

/** Logs what admission observes and decides, in that order. It costs nothing while another manager leads. */
export interface DecisionRecorder {
  /** This manager leads from now on: logs all objects and Jobs, in slices. */
  start(): void;
  stop(): void;
  /** The setup may have changed. */
  setup(): void;
  /**
   * Logs a Job as admission observes it. `arrival`: its place in arrival order. `anew`: a pending Job held quota until now, or an admitted
   * Job holds less than before.
   */
  seen(workload: Workload, arrival: number, anew?: boolean): void;
  /** Logs that a Job holds and requests nothing any more. `Undone`: its admission could not be written. */
  ended(key: string, how: 'Finished' | 'Deleted' | 'Undone'): void;
  /** A pass over the queues begins. */
  pass(): void;
  cycle(nowMs: number, most: number, decisions: readonly Decision[]): void;
  /** The pass has ended. */
  looked(because: LogLooked['because']): void;
}

export type DecisionRecorderDeps = {
  readonly sink: LineSink;
  readonly settings: LoggedSettings;
  readonly objects: () => SetupObjects;
  /** All Workloads that wait or hold quota, in any order; `arrival` as above. */
  readonly workloads: () => Iterable<{ readonly workload: Workload; readonly arrival: number }>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls back in a moment. */
  readonly soon: (callback: () => void) => void;
};

/** Jobs logged in one slice, so that a large section does not block the event loop. */
const JOBS_PER_SLICE = 250;

type LoggedText = { readonly object: DeepReadonly<KubeObject>; readonly text: string };

export function createDecisionRecorder({ sink, settings, objects, workloads, now, soon }: DecisionRecorderDeps): DecisionRecorder {
  let state: 'off' | 'telling' | 'whole' | 'lost' = 'off';
  /** The number of the current section; slices of an abandoned section stop. */
  let section = 0;
  let fileBytes = 0;
  let bytesSinceWhole = 0;
  let cycles = 0;
  let isFirst = false;
  let hasChanged = false;
  const loggedWorkloads = new Map<string, Workload>();
  const loggedObjects = new Map<string, LoggedText>();

  /** False if the line is lost: the section is incomplete from then on. */
  const append = (line: LogLine): boolean => {
    const text = formatLogLine(line);
    if (!sink.write(text)) {
      state = 'lost';
      loggedWorkloads.clear();
      loggedObjects.clear();
      sink.lost(1);
      return false;
    }
    fileBytes += text.length;
    bytesSinceWhole += text.length;
    hasChanged = true;
    return true;
  };

  const begin = (because: LogHead['because']): void => {
    loggedWorkloads.clear();
    loggedObjects.clear();
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
    if (!append(head) || !appendSetup()) return;
    appendJobs(workloads()[Symbol.iterator](), section);
  };

  const appendJobs = (jobs: Iterator<{ readonly workload: Workload; readonly arrival: number }>, of: number): void => {
    if (state !== 'telling' || of !== section) return;
    for (let count = 0; count < JOBS_PER_SLICE; count++) {
      const next = jobs.next();
      if (next.done === true) {
        state = 'whole';
        append({ kind: 'whole', at: now() });
        bytesSinceWhole = 0;
        return;
      }
      const { workload, arrival } = next.value;
      if (!loggedWorkloads.has(workload.key) && !appendJob(workload, arrival)) return;
    }
    soon(() => appendJobs(jobs, of));
  };

  const appendJob = (workload: Workload, arrival: number): boolean => {
    if (!append({ kind: 'job', at: now(), ...loggedJob(workload, arrival) })) return false;
    loggedWorkloads.set(workload.key, workload);
    return true;
  };

  const appendSetup = (): boolean => {
    const gone = new Set(loggedObjects.keys());
    for (const { kind, object } of loggable(objects())) {
      const name = objectName({ kind, metadata: object.metadata });
      gone.delete(name);
      const before = loggedObjects.get(name);
      if (before?.object === object) continue;
      const logged = loggedObject(kind, object);
      const text = JSON.stringify(logged);
      if (before?.text !== text && !append({ kind: 'object', at: now(), object: logged })) return false;
      loggedObjects.set(name, { object, text });
    }
    for (const name of gone) {
      loggedObjects.delete(name);
      if (!append({ kind: 'gone', at: now(), object: name })) return false;
    }
    return true;
  };

  /** Whether events can be logged now. After lost lines, a new section begins once the sink has room. */
  const canLog = (): boolean => {
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
      loggedWorkloads.clear();
      loggedObjects.clear();
    },
    setup: () => {
      if (canLog()) appendSetup();
    },
    seen: (workload, arrival, anew = false) => {
      if (!canLog()) return;
      const { key, phase } = workload;
      const before = loggedWorkloads.get(key);
      if (before === undefined || before.uid !== workload.uid) return void appendJob(workload, arrival);
      if (phase === 'Pending' && (anew || before.phase !== 'Pending' || needsLogging(workload, before)))
        return void appendJob(workload, arrival);
      loggedWorkloads.set(key, workload);
      if (phase === 'Pending') append({ kind: 'again', at: now(), job: key });
      else if (phase === 'Evicting' || phase === 'Unrecorded') {
        if (before.phase !== phase) append({ kind: 'phase', at: now(), job: key, phase: 'Evicting' });
      } else if (anew && phase === 'Admitted')
        append({
          kind: 'phase',
          at: now(),
          job: key,
          phase: 'Admitted',
          ...omitUndefined({ needed: neededOf(workload), starting: startingOf(workload) }),
        });
    },
    ended: (key, how) => {
      // A Job that is not logged in this section yet may be in the previous one.
      if (!canLog() || (!loggedWorkloads.delete(key) && state === 'whole')) return;
      append({ kind: 'end', at: now(), job: key, how });
    },
    pass: () => {
      isFirst = true;
    },
    cycle: (nowMs, most, decisions) => {
      cycles++;
      if (!canLog()) return;
      append({ kind: 'cycle', at: nowMs, cycle: cycles, ...first(), most, ...partsOf(decisions) });
    },
    looked: (because) => {
      if (!hasChanged || !canLog()) return;
      append({ kind: 'looked', at: now(), ...first(), because });
      hasChanged = false;
      const { fileBytesMax } = sink;
      // Sections make up at most half of the log.
      const isFull = state === 'whole' && fileBytesMax !== undefined && fileBytes >= fileBytesMax && bytesSinceWhole * 2 >= fileBytes;
      if (!isFull || !sink.rotate()) return;
      fileBytes = 0;
      begin('rotation');
    },
  };
}
