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

export function createDecisionRecorder(deps: DecisionRecorderDeps): DecisionRecorder {
  return new Recorder(deps);
}

class Recorder implements DecisionRecorder {
  readonly #deps: DecisionRecorderDeps;
  #state: 'off' | 'telling' | 'whole' | 'lost' = 'off';
  /** The number of the current section; slices of an abandoned section stop. */
  #section = 0;
  #fileBytes = 0;
  #bytesSinceWhole = 0;
  #cycles = 0;
  #isFirst = false;
  #hasChanged = false;
  readonly #loggedWorkloads = new Map<string, Workload>();
  readonly #loggedObjects = new Map<string, LoggedText>();

  constructor(deps: DecisionRecorderDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#cycles = 0;
    this.#begin('start');
  }

  stop(): void {
    this.#state = 'off';
    this.#forgetLogged();
  }

  setup(): void {
    if (this.#canLog()) this.#appendSetup();
  }

  seen(workload: Workload, arrival: number, anew = false): void {
    if (!this.#canLog()) return;
    const { key, phase } = workload;
    const before = this.#loggedWorkloads.get(key);
    if (before === undefined || before.uid !== workload.uid) return void this.#appendJob(workload, arrival);
    if (phase === 'Pending' && (anew || before.phase !== 'Pending' || needsLogging(workload, before)))
      return void this.#appendJob(workload, arrival);
    this.#loggedWorkloads.set(key, workload);
    const at = this.#deps.now();
    if (phase === 'Pending') this.#append({ kind: 'again', at, job: key });
    else if (phase === 'Evicting' || phase === 'Unrecorded') {
      if (before.phase !== phase) this.#append({ kind: 'phase', at, job: key, phase: 'Evicting' });
    } else if (anew && phase === 'Admitted') {
      const held = omitUndefined({ needed: neededOf(workload), starting: startingOf(workload) });
      this.#append({ kind: 'phase', at, job: key, phase: 'Admitted', ...held });
    }
  }

  ended(key: string, how: 'Finished' | 'Deleted' | 'Undone'): void {
    // A Job that is not logged in this section yet may be in the previous one.
    if (!this.#canLog() || (!this.#loggedWorkloads.delete(key) && this.#state === 'whole')) return;
    this.#append({ kind: 'end', at: this.#deps.now(), job: key, how });
  }

  pass(): void {
    this.#isFirst = true;
  }

  cycle(nowMs: number, most: number, decisions: readonly Decision[]): void {
    this.#cycles++;
    if (!this.#canLog()) return;
    this.#append({ kind: 'cycle', at: nowMs, cycle: this.#cycles, ...this.#first(), most, ...partsOf(decisions) });
  }

  looked(because: LogLooked['because']): void {
    if (!this.#hasChanged || !this.#canLog()) return;
    this.#append({ kind: 'looked', at: this.#deps.now(), ...this.#first(), because });
    this.#hasChanged = false;
    if (!this.#isFull() || !this.#deps.sink.rotate()) return;
    this.#fileBytes = 0;
    this.#begin('rotation');
  }

  /** Whether events can be logged now. After lost lines, a new section begins once the sink has room. */
  #canLog(): boolean {
    const { sink } = this.#deps;
    if (this.#state === 'off') return false;
    if (this.#state !== 'lost') return true;
    if (sink.hasRoom()) this.#begin('gap');
    else sink.lost(1);
    return false;
  }

  #isFull(): boolean {
    const { fileBytesMax } = this.#deps.sink;
    if (this.#state !== 'whole' || fileBytesMax === undefined) return false;
    // Sections make up at most half of the log.
    return this.#fileBytes >= fileBytesMax && this.#bytesSinceWhole * 2 >= this.#fileBytes;
  }

  #first(): { readonly first?: true } {
    const was = this.#isFirst;
    this.#isFirst = false;
    return was ? { first: true } : {};
  }

  #begin(because: LogHead['because']): void {
    const { sink, settings, workloads, now } = this.#deps;
    this.#forgetLogged();
    this.#section++;
    this.#state = 'telling';
    const lost = sink.takeLost();
    const head = {
      kind: 'log',
      version: DECISION_LOG_VERSION,
      at: now(),
      because,
      ...(lost > 0 ? { dropped: lost } : {}),
      settings,
    } as const;
    if (!this.#append(head) || !this.#appendSetup()) return;
    this.#appendJobs(workloads()[Symbol.iterator](), this.#section);
  }

  #forgetLogged(): void {
    this.#loggedWorkloads.clear();
    this.#loggedObjects.clear();
  }

  #appendSetup(): boolean {
    const { objects, now } = this.#deps;
    const gone = new Set(this.#loggedObjects.keys());
    for (const { kind, object } of loggable(objects())) {
      const name = objectName({ kind, metadata: object.metadata });
      gone.delete(name);
      const before = this.#loggedObjects.get(name);
      if (before?.object === object) continue;
      const logged = loggedObject(kind, object);
      const text = JSON.stringify(logged);
      if (before?.text !== text && !this.#append({ kind: 'object', at: now(), object: logged })) return false;
      this.#loggedObjects.set(name, { object, text });
    }
    for (const name of gone) {
      this.#loggedObjects.delete(name);
      if (!this.#append({ kind: 'gone', at: now(), object: name })) return false;
    }
    return true;
  }

  #appendJobs(jobs: Iterator<{ readonly workload: Workload; readonly arrival: number }>, of: number): void {
    if (this.#state !== 'telling' || of !== this.#section) return;
    for (let count = 0; count < JOBS_PER_SLICE; count++) {
      const next = jobs.next();
      if (next.done === true) {
        this.#state = 'whole';
        this.#append({ kind: 'whole', at: this.#deps.now() });
        this.#bytesSinceWhole = 0;
        return;
      }
      const { workload, arrival } = next.value;
      if (!this.#loggedWorkloads.has(workload.key) && !this.#appendJob(workload, arrival)) return;
    }
    this.#deps.soon(() => this.#appendJobs(jobs, of));
  }

  #appendJob(workload: Workload, arrival: number): boolean {
    if (!this.#append({ kind: 'job', at: this.#deps.now(), ...loggedJob(workload, arrival) })) return false;
    this.#loggedWorkloads.set(workload.key, workload);
    return true;
  }

  /** False if the line is lost: the section is incomplete from then on. */
  #append(line: LogLine): boolean {
    const { sink } = this.#deps;
    const text = formatLogLine(line);
    if (!sink.write(text)) {
      this.#state = 'lost';
      this.#forgetLogged();
      sink.lost(1);
      return false;
    }
    this.#fileBytes += text.length;
    this.#bytesSinceWhole += text.length;
    this.#hasChanged = true;
    return true;
  }
}
