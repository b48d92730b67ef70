import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type {
  LogCycle,
  LogEnd,
  LoggedAdmission,
  LoggedObject,
  LoggedSettings,
  LogHead,
  LogLine,
  LogLooked,
  LogPhase,
} from '../../admission/decision-log/decision-log.ts';
import type { LoggedJob, LoggedPods } from '../../admission/decision-log/logged-workload.ts';

/** A decision log in replayable form: external events in order, and for each Job how long its placements took. */
export type History = {
  readonly settings: LoggedSettings;
  readonly startMs: number;
  readonly endMs: number;
  /** The number of the line orders steps of equal time. */
  readonly steps: readonly Step[];
  readonly lives: readonly Life[];
  /** Lines that were lost before they were written. */
  readonly dropped: number;
  /** Sections after the first that do not continue the previous one: lines were lost, or another manager began. */
  readonly breaks: number;
};

export type Step = Moment &
  (
    | { readonly kind: 'Object'; readonly object: LoggedObject }
    | { readonly kind: 'Gone'; readonly object: string }
    /** The Job is pending, for the first time or after a change. */
    | { readonly kind: 'Waits'; readonly life: Life; readonly told: LoggedJob }
    /** The Job holds a placement whose admission is not logged. */
    | { readonly kind: 'Holds'; readonly life: Life; readonly told: LoggedJob }
    /** The Job was admitted before the section was complete, so the decision cannot be repeated. */
    | { readonly kind: 'Placed'; readonly life: Life; readonly admission: LoggedAdmission }
    /** The Job is gone without a placement. */
    | { readonly kind: 'Leaves'; readonly life: Life }
    | { readonly kind: 'Cycle'; readonly cycle: LogCycle }
    | { readonly kind: 'Looked'; readonly looked: LogLooked }
  );

/** A moment of the log: its time, and the line number, which orders moments of equal time. */
export type Moment = { readonly atMs: number; readonly line: number };

/** One Job from its first observation. */
export type Life = {
  readonly key: string;
  readonly uid: string;
  /** The Job as first observed. */
  readonly told: LoggedJob;
  readonly seenMs: number;
  /** The Job existed when the log began. */
  readonly isOld: boolean;
  readonly placements: readonly Placement[];
  /** When the Job ended or was deleted. */
  readonly leftMs?: number;
};

/** One admission of a Job and its end. Open if the log has no end. */
export type Placement = {
  readonly from: Moment;
  /** Absent if the admission is not logged. */
  readonly admission?: LoggedAdmission;
  /** When the Job was chosen for preemption. */
  readonly displaced?: Moment;
  readonly evicting?: Moment;
  readonly needs: readonly { readonly when: Moment; readonly needed: LoggedPods | undefined; readonly starting?: true }[];
  readonly end?: Ending;
};
/** `Unknown`: at some time while nothing was logged. */
export type Ending = Moment & {
  readonly how: 'Finished' | 'Deleted' | 'Waits' | 'Undone' | 'Unknown';
  /** The Job as it is pending from then on. */
  readonly told?: LoggedJob;
};

type OpenPlacement = { -readonly [K in keyof Placement]: Placement[K] } & { needs: Placement['needs'][number][] };
type OpenLife = Omit<Life, 'placements' | 'leftMs'> & { readonly placements: OpenPlacement[]; leftMs?: number; lastTold: LoggedJob };
type Section = { readonly isFirst: boolean; readonly goesOn: boolean; readonly told: Set<string> };

export function historyOf(lines: readonly LogLine[]): History {
  const history = new HistorySoFar();
  for (const [line, each] of lines.entries()) history.take(each, line);
  return history.all(lines[0]?.at ?? 0);
}

class HistorySoFar {
  readonly #steps: Step[] = [];
  readonly #lives: OpenLife[] = [];
  readonly #current = new Map<string, OpenLife>();
  /** Undefined once the section is complete. */
  #section: Section | undefined;
  #settings: LoggedSettings = {};
  #dropped = 0;
  #breaks = 0;
  #moment: Moment = { atMs: 0, line: 0 };

  all(startMs: number): History {
    return {
      settings: this.#settings,
      startMs,
      endMs: this.#moment.atMs,
      steps: this.#steps,
      lives: this.#lives,
      dropped: this.#dropped,
      breaks: this.#breaks,
    };
  }

  take(line: LogLine, number: number): void {
    // A clock that is set back does not reorder events.
    this.#moment = { atMs: Math.max(this.#moment.atMs, line.at), line: number };
    switch (line.kind) {
      case 'log':
        return this.#begin(line);
      case 'object':
        return void this.#steps.push({ kind: 'Object', ...this.#moment, object: line.object });
      case 'gone':
        return void this.#steps.push({ kind: 'Gone', ...this.#moment, object: line.object });
      case 'job': {
        const { kind: _kind, at: _at, ...told } = line;
        return this.#tell(told);
      }
      case 'again': {
        const life = this.#current.get(line.job);
        if (life !== undefined && openOf(life) === undefined) this.#wait(life, life.lastTold);
        return;
      }
      case 'whole': {
        // Jobs that are no longer listed ended while nothing was logged.
        const told = this.#section?.told;
        if (told !== undefined) for (const life of this.#current.values()) if (!told.has(life.key)) this.#leave(life, 'Unknown');
        this.#section = undefined;
        return;
      }
      case 'phase':
        return this.#changePhase(line);
      case 'end':
        return this.#end(line);
      case 'cycle':
        return this.#takeCycle(line);
      case 'looked':
        return void this.#steps.push({ kind: 'Looked', ...this.#moment, looked: line });
    }
  }

  #begin(line: LogHead): void {
    const isFirst = this.#moment.line === 0;
    const goesOn = line.because === 'rotation' && !isFirst;
    this.#section = { isFirst, goesOn, told: new Set() };
    if (isFirst) this.#settings = line.settings;
    if (!isFirst && !goesOn) this.#breaks++;
    this.#dropped += line.dropped ?? 0;
  }

  #tell(told: LoggedJob): void {
    this.#section?.told.add(told.job);
    const known = this.#current.get(told.job);
    if (known !== undefined && known.uid !== told.uid) this.#leave(known, 'Deleted');
    const waits = told.phase === 'Pending';
    const life = this.#current.get(told.job);
    if (life === undefined) {
      const isOld = this.#section?.isFirst === true;
      const born = { key: told.job, uid: told.uid, told, lastTold: told, seenMs: this.#moment.atMs, isOld, placements: [] };
      this.#current.set(told.job, born);
      this.#lives.push(born);
      if (waits) this.#wait(born, told);
      else this.#hold(born, told);
      return;
    }
    const open = openOf(life);
    // Each section repeats all Jobs.
    const hasChanged = life.placements.at(-1)?.end?.how === 'Undone' || JSON.stringify(told) !== JSON.stringify(life.lastTold);
    if (open !== undefined && waits) open.end = { ...this.#moment, how: open.evicting === undefined ? 'Undone' : 'Waits', told };
    else if (open === undefined && !waits) this.#hold(life, told);
    else if (open === undefined && hasChanged) this.#wait(life, told);
    life.lastTold = told;
  }

  #wait(life: OpenLife, told: LoggedJob): void {
    this.#steps.push({ kind: 'Waits', ...this.#moment, life, told });
  }

  #hold(life: OpenLife, told: LoggedJob): void {
    const { atMs, line } = this.#moment;
    const sinceMs = Date.parse(told.record?.since ?? '') || atMs;
    life.placements.push({ from: { atMs: Math.min(sinceMs, atMs), line }, needs: [] });
    this.#steps.push({ kind: 'Holds', atMs, line, life, told });
  }

  #leave(life: OpenLife, how: 'Finished' | 'Deleted' | 'Unknown'): void {
    const open = openOf(life);
    if (open === undefined) this.#steps.push({ kind: 'Leaves', ...this.#moment, life });
    else open.end = { ...this.#moment, how };
    life.leftMs = this.#moment.atMs;
    this.#current.delete(life.key);
  }

  #changePhase({ job, phase, needed, starting }: LogPhase): void {
    const open = openOf(this.#current.get(job));
    if (open === undefined) return;
    if (phase === 'Evicting') open.evicting ??= this.#moment;
    else open.needs.push({ when: this.#moment, needed, ...omitUndefined({ starting }) });
  }

  #end({ job, how }: LogEnd): void {
    this.#section?.told.add(job);
    const life = this.#current.get(job);
    if (life === undefined) return;
    const open = openOf(life);
    if (how !== 'Undone') this.#leave(life, how);
    else if (open !== undefined) open.end = { ...this.#moment, how: 'Undone' };
  }

  #takeCycle(cycle: LogCycle): void {
    const isKnown = this.#section === undefined || this.#section.goesOn;
    if (isKnown) this.#steps.push({ kind: 'Cycle', ...this.#moment, cycle });
    for (const admission of cycle.admitted ?? []) {
      const life = this.#current.get(admission.job);
      if (life === undefined || openOf(life) !== undefined) continue;
      life.placements.push({ from: this.#moment, admission, needs: [] });
      if (!isKnown) this.#steps.push({ kind: 'Placed', ...this.#moment, life, admission });
    }
    for (const { job } of (cycle.preempting ?? []).flatMap(({ victims }) => victims)) {
      const open = openOf(this.#current.get(job));
      if (open !== undefined) open.displaced ??= this.#moment;
    }
  }
}

const openOf = (life: OpenLife | undefined): OpenPlacement | undefined => {
  const last = life?.placements.at(-1);
  return last?.end === undefined ? last : undefined;
};
