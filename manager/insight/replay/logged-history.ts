import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type {
  LogCycle,
  LoggedAdmission,
  LoggedObject,
  LoggedSettings,
  LogLine,
  LogLooked,
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
  const steps: Step[] = [];
  const lives: OpenLife[] = [];
  const current = new Map<string, OpenLife>();
  /** Undefined once the section is complete. */
  let section: Section | undefined;
  let settings: LoggedSettings = {};
  let dropped = 0;
  let breaks = 0;
  let moment: Moment = { atMs: 0, line: 0 };

  const openOf = (life: OpenLife | undefined): OpenPlacement | undefined => {
    const last = life?.placements.at(-1);
    return last?.end === undefined ? last : undefined;
  };

  const leave = (life: OpenLife, how: 'Finished' | 'Deleted' | 'Unknown'): void => {
    const open = openOf(life);
    if (open === undefined) steps.push({ kind: 'Leaves', ...moment, life });
    else open.end = { ...moment, how };
    life.leftMs = moment.atMs;
    current.delete(life.key);
  };

  const hold = (life: OpenLife, told: LoggedJob): void => {
    const sinceMs = Date.parse(told.record?.since ?? '') || moment.atMs;
    life.placements.push({ from: { atMs: Math.min(sinceMs, moment.atMs), line: moment.line }, needs: [] });
    steps.push({ kind: 'Holds', ...moment, life, told });
  };

  const tell = (told: LoggedJob): void => {
    section?.told.add(told.job);
    const known = current.get(told.job);
    if (known !== undefined && known.uid !== told.uid) leave(known, 'Deleted');
    const waits = told.phase === 'Pending';
    const life = current.get(told.job);
    if (life === undefined) {
      const isOld = section?.isFirst === true;
      const born = { key: told.job, uid: told.uid, told, lastTold: told, seenMs: moment.atMs, isOld, placements: [] };
      current.set(told.job, born);
      lives.push(born);
      if (waits) steps.push({ kind: 'Waits', ...moment, life: born, told });
      else hold(born, told);
      return;
    }
    const open = openOf(life);
    // Each section repeats all Jobs.
    const hasChanged = life.placements.at(-1)?.end?.how === 'Undone' || JSON.stringify(told) !== JSON.stringify(life.lastTold);
    if (open !== undefined && waits) open.end = { ...moment, how: open.evicting === undefined ? 'Undone' : 'Waits', told };
    else if (open === undefined && !waits) hold(life, told);
    else if (open === undefined && hasChanged) steps.push({ kind: 'Waits', ...moment, life, told });
    life.lastTold = told;
  };

  const takeCycle = (cycle: LogCycle): void => {
    const isKnown = section === undefined || section.goesOn;
    if (isKnown) steps.push({ kind: 'Cycle', ...moment, cycle });
    for (const admission of cycle.admitted ?? []) {
      const life = current.get(admission.job);
      if (life === undefined || openOf(life) !== undefined) continue;
      life.placements.push({ from: moment, admission, needs: [] });
      if (!isKnown) steps.push({ kind: 'Placed', ...moment, life, admission });
    }
    for (const { job } of (cycle.preempting ?? []).flatMap(({ victims }) => victims)) {
      const open = openOf(current.get(job));
      if (open !== undefined) open.displaced ??= moment;
    }
  };

  const take = (line: LogLine): void => {
    switch (line.kind) {
      case 'log': {
        const isFirst = moment.line === 0;
        const goesOn = line.because === 'rotation' && !isFirst;
        section = { isFirst, goesOn, told: new Set() };
        if (isFirst) ({ settings } = line);
        if (!isFirst && !goesOn) breaks++;
        dropped += line.dropped ?? 0;
        return;
      }
      case 'object':
        return void steps.push({ kind: 'Object', ...moment, object: line.object });
      case 'gone':
        return void steps.push({ kind: 'Gone', ...moment, object: line.object });
      case 'job': {
        const { kind: _kind, at: _at, ...told } = line;
        return tell(told);
      }
      case 'again': {
        const life = current.get(line.job);
        if (life !== undefined && openOf(life) === undefined) steps.push({ kind: 'Waits', ...moment, life, told: life.lastTold });
        return;
      }
      case 'whole': {
        // Jobs that are no longer listed ended while nothing was logged.
        const told = section?.told;
        if (told !== undefined) for (const life of current.values()) if (!told.has(life.key)) leave(life, 'Unknown');
        section = undefined;
        return;
      }
      case 'phase': {
        const open = openOf(current.get(line.job));
        if (open === undefined) return;
        if (line.phase === 'Evicting') open.evicting ??= moment;
        else open.needs.push({ when: moment, needed: line.needed, ...omitUndefined({ starting: line.starting }) });
        return;
      }
      case 'end': {
        section?.told.add(line.job);
        const life = current.get(line.job);
        if (life === undefined) return;
        const open = openOf(life);
        if (line.how !== 'Undone') leave(life, line.how);
        else if (open !== undefined) open.end = { ...moment, how: 'Undone' };
        return;
      }
      case 'cycle':
        return takeCycle(line);
      case 'looked':
        return void steps.push({ kind: 'Looked', ...moment, looked: line });
    }
  };

  for (const [line, each] of lines.entries()) {
    // A clock that is set back does not reorder events.
    moment = { atMs: Math.max(moment.atMs, each.at), line };
    take(each);
  }
  return { settings, startMs: lines[0]?.at ?? 0, endMs: moment.atMs, steps, lives, dropped, breaks };
}
