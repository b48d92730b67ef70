/**
 * How far somebody has read a log whose lines begin with when they were written. Several may have the same time, and those of the two streams of a container may be out of order:
 * so it is the latest time, how many lines of it were read, and how many older ones after the last of these.
 */
export type LogPosition = {
  /** Whole seconds since the epoch, a dot, and nine digits: later ones are greater as text. */
  readonly stamp: string;
  readonly same: number;
  readonly after: number;
};

export const formatPosition = ({ stamp, same, after }: LogPosition): string => `${stamp}-${same}-${after}`;

/** Of what a client says that it has seen; undefined where it is nothing of ours. */
export function parsePosition(text: string | undefined): LogPosition | undefined {
  const [, stamp, same, after] = /^(\d{11}\.\d{9})-(\d{1,9})-(\d{1,9})$/.exec(text ?? '') ?? [];
  return stamp === undefined ? undefined : { stamp, same: Number(same), after: Number(after) };
}

/** From where a log is to be read again: a second earlier, for lines that are out of order. API servers take whole seconds. */
export const sinceTimeOf = ({ stamp }: LogPosition): string =>
  `${new Date(Math.max(0, secondsOf(stamp) - MARGIN_SECONDS) * 1000).toISOString().slice(0, 19)}Z`;

/** When the latest of what was read was written, by the clock of its node. */
export const writtenMs = ({ stamp }: LogPosition): number => secondsOf(stamp) * 1000;

const MARGIN_SECONDS = 1;
const secondsOf = (stamp: string): number => Number(stamp.slice(0, 11));

/** What was read anew of a log, from where somebody had read to. */
export interface LogReader {
  /** The next piece, cut anywhere. Returns the whole lines in it that are new, without their times. */
  take(piece: string): string;
  /** What is left without an end of its line; nothing comes after it. */
  rest(): string;
  /** How far it is read; undefined before the first line. */
  readonly at: LogPosition | undefined;
}

/** So many characters of a line are shown. */
export const LINE_LENGTH_MAX = 16 * 1024;
/** Before them stands its time. */
const STAMP_LENGTH_MAX = 64;
const KEPT_MAX = LINE_LENGTH_MAX + STAMP_LENGTH_MAX;
const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) /;

/** `from`: what is up to there is left out, provided the log is read from {@link sinceTimeOf} it. */
export function createLogReader(from?: LogPosition): LogReader {
  let at = from;
  /** What is still to be met of what was read before; undefined: all that comes is new. */
  let known = from === undefined ? undefined : { same: from.same, after: from.after };
  let begun = '';
  /** Of the line that has begun. */
  let dropped = 0;

  /** Whether a line of this time is new; where it is, it counts as read. */
  function isNew(stamp: string | undefined): boolean {
    if (known !== undefined && at !== undefined) {
      // It was not written by the container, as far as can be told.
      if (stamp === undefined) return false;
      // Later than all that was read: the rest of that is gone, as when a log is rotated.
      if (stamp > at.stamp) known = undefined;
      else if (known.same > 0) {
        if (stamp === at.stamp) known = { ...known, same: known.same - 1 };
        return false;
      } else if (known.after > 0) {
        known = { ...known, after: known.after - 1 };
        return false;
      }
      known = undefined;
    }
    if (stamp !== undefined) at = positionAfter(at, stamp);
    return true;
  }

  function lineOf(line: string, lost: number): string {
    const [head = '', time = '', fraction = '', zone = ''] = LINE.exec(line) ?? [];
    if (!isNew(stampOf(time, fraction, zone))) return '';
    const text = line.slice(head.length);
    const cut = lost + Math.max(0, text.length - LINE_LENGTH_MAX);
    return cut === 0 ? `${text}\n` : `${text.slice(0, LINE_LENGTH_MAX)} [${cut} more characters of this line]\n`;
  }

  const begin = (part: string): void => {
    const room = Math.max(0, KEPT_MAX - begun.length);
    begun += part.slice(0, room);
    dropped += Math.max(0, part.length - room);
  };

  const rest = (): string => {
    const [line, lost] = [begun, dropped];
    [begun, dropped] = ['', 0];
    return line === '' && lost === 0 ? '' : lineOf(line, lost);
  };

  return {
    take(piece) {
      const parts = piece.split('\n');
      const last = parts.pop() ?? '';
      let text = '';
      for (const part of parts) {
        begin(part);
        text += lineOf(begun, dropped);
        [begun, dropped] = ['', 0];
      }
      begin(last);
      return text;
    },
    rest,
    get at() {
      return at;
    },
  };
}

function positionAfter(at: LogPosition | undefined, stamp: string): LogPosition {
  if (at === undefined || stamp > at.stamp) return { stamp, same: 1, after: 0 };
  if (stamp === at.stamp) return { stamp, same: at.same + 1, after: 0 };
  // Older ones do not come again.
  return secondsOf(stamp) >= secondsOf(at.stamp) - MARGIN_SECONDS ? { ...at, after: at.after + 1 } : at;
}

function stampOf(time: string, fraction: string, zone: string): string | undefined {
  const seconds = Date.parse(`${time}${zone}`) / 1000;
  return Number.isInteger(seconds) && seconds >= 0 ? `${String(seconds).padStart(11, '0')}.${fraction.padEnd(9, '0')}` : undefined;
}
