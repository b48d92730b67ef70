/**
 * How far a reader has read a log with timestamps. Several lines may have the same time, and lines of the two streams of a container may be
 * out of order. A position is therefore the latest time, the number of its lines read, and the number of older lines after the last of
 * these.
 */
export type LogPosition = {
  /** Whole seconds since the epoch, a dot, and nine digits: later times are greater as text. */
  readonly stamp: string;
  readonly same: number;
  readonly after: number;
};

export const formatPosition = ({ stamp, same, after }: LogPosition): string => `${stamp}-${same}-${after}`;

/** Parses the position that a client sends; undefined where it is malformed. */
export function parsePosition(text: string | undefined): LogPosition | undefined {
  const [, stamp, same, after] = /^(\d{11}\.\d{9})-(\d{1,9})-(\d{1,9})$/.exec(text ?? '') ?? [];
  return stamp === undefined ? undefined : { stamp, same: Number(same), after: Number(after) };
}

/** The time from which a log is read again: a second earlier, for lines that are out of order. API servers take whole seconds. */
export const sinceTimeOf = ({ stamp }: LogPosition): string =>
  `${new Date(Math.max(0, secondsOf(stamp) - MARGIN_SECONDS) * 1000).toISOString().slice(0, 19)}Z`;

/** The time of the latest line read, by the clock of its node. */
export const writtenMs = ({ stamp }: LogPosition): number => secondsOf(stamp) * 1000;

const MARGIN_SECONDS = 1;
const secondsOf = (stamp: string): number => Number(stamp.slice(0, 11));

/** Reads a log again from a position, and returns new lines. */
export interface LogReader {
  /** Takes the next chunk, cut anywhere. Returns its new whole lines, without timestamps. */
  take(piece: string): string;
  /** Returns the last line without its end; no chunk follows. */
  rest(): string;
  /** The position; undefined before the first line. */
  readonly at: LogPosition | undefined;
}

/** Characters of a line that are shown. */
export const LINE_LENGTH_MAX = 16 * 1024;
/** Characters of the timestamp before a line. */
const STAMP_LENGTH_MAX = 64;
const BUFFER_MAX = LINE_LENGTH_MAX + STAMP_LENGTH_MAX;
const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) /;

/** `from`: lines up to this position are skipped, provided that the log is read from {@link sinceTimeOf} of it. */
export function createLogReader(from?: LogPosition): LogReader {
  let at = from;
  /** Lines read before that are still to be skipped; undefined: all lines are new. */
  let known = from === undefined ? undefined : { same: from.same, after: from.after };
  let begun = '';
  /** Characters dropped of the present line. */
  let dropped = 0;

  /** Whether a line of this time is new; a new line counts as read. */
  function isNew(stamp: string | undefined): boolean {
    if (known !== undefined && at !== undefined) {
      // A line without a timestamp was not written by the container, as far as known.
      if (stamp === undefined) return false;
      // The line is later than all that was read: the skipped lines are gone, as after a rotation.
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
    const room = Math.max(0, BUFFER_MAX - begun.length);
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
  // Lines older than the margin are not read again.
  return secondsOf(stamp) >= secondsOf(at.stamp) - MARGIN_SECONDS ? { ...at, after: at.after + 1 } : at;
}

function stampOf(time: string, fraction: string, zone: string): string | undefined {
  const seconds = Date.parse(`${time}${zone}`) / 1000;
  return Number.isInteger(seconds) && seconds >= 0 ? `${String(seconds).padStart(11, '0')}.${fraction.padEnd(9, '0')}` : undefined;
}
