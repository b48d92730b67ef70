import { objectName, type LoggedObject } from '../../admission/decision-log/decision-log.ts';
import type { History } from '../../insight/replay/logged-history.ts';
import type { Replayed } from '../../insight/replay/replay.ts';
import { agreementOf, figuresOf, lastSetup, type Agreement, type QueueFigures } from '../../insight/replay/replay-figures.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';

/** What a replay came to, as `--output json` writes it. Times are RFC 3339, lengths of time milliseconds. */
export type ReplayReport = {
  readonly from: string;
  readonly to: string;
  readonly jobs: number;
  /** What was put in the place of the setup of the log; false: nothing. */
  readonly isOtherPolicy: boolean;
  readonly replaced: readonly string[];
  /** What the log misses. */
  readonly missing: { readonly droppedLines: number; readonly cutOffLines: number; readonly breaks: number };
  /** Of how many Jobs that ran here nobody knows for how long they would have. */
  readonly guessedRunTimes: number;
  /** Jobs that ended while nobody wrote. */
  readonly unknownEnds: number;
  readonly agreement: Omit<Agreement, 'first'> & {
    readonly firstDifference?: { readonly at: string; readonly logged: string; readonly replayed: string };
  };
  readonly queues: readonly { readonly queue?: string; readonly logged?: FiguresOf; readonly replayed?: FiguresOf }[];
};
type FiguresOf = Omit<QueueFigures, 'queue'>;

export function replayReport(parts: {
  readonly history: History;
  readonly cutOff: number;
  readonly logged: Replayed;
  readonly replayed: Replayed;
  readonly objects: readonly LoggedObject[];
  /** Something was put in the place of what the log tells. */
  readonly isOther: boolean;
}): ReplayReport {
  const { history, cutOff, logged, replayed, objects, isOther } = parts;
  const { cycles, of, first } = agreementOf(logged.cycles, replayed.cycles);
  const before = new Map(figuresOf(logged, history, lastSetup(history, [], objectName)).map((each) => [each.queue, each]));
  const now = new Map(figuresOf(replayed, history, lastSetup(history, objects, objectName)).map((each) => [each.queue, each]));
  const names = [...new Set([...before.keys(), ...now.keys()])].toSorted((a = '~', b = '~') => (a < b ? -1 : 1));
  return {
    from: timeText(history.startMs),
    to: timeText(history.endMs),
    jobs: history.lives.length,
    isOtherPolicy: isOther,
    replaced: objects.map(objectName),
    missing: { droppedLines: history.dropped, cutOffLines: cutOff, breaks: history.breaks },
    guessedRunTimes: replayed.guessed,
    unknownEnds: history.lives.filter(({ placements }) => placements.at(-1)?.end?.how === 'Unknown').length,
    agreement: {
      cycles,
      of,
      ...(first === undefined ? {} : { firstDifference: { at: timeText(first.atMs), logged: first.logged, replayed: first.replayed } }),
    },
    queues: names.map((queue) => omitUndefined({ queue, logged: withoutName(before.get(queue)), replayed: withoutName(now.get(queue)) })),
  };
}

const timeText = (ms: number): string => (Number.isFinite(ms) ? new Date(ms).toISOString() : '');

function withoutName(figures: QueueFigures | undefined): FiguresOf | undefined {
  if (figures === undefined) return undefined;
  const { queue: _queue, ...rest } = figures;
  return rest;
}
