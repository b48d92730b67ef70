/** What is shown of a log that goes on and on. */
export type LogLines = {
  readonly lines: readonly string[];
  /** What came after the last end of a line. */
  readonly rest: string;
  /** Lines that were let go, the oldest first. */
  readonly dropped: number;
};

export const NO_LINES: LogLines = { lines: [], rest: '', dropped: 0 };

/** The lines after more text, of which the last `most` are kept. */
export function withText(log: LogLines, text: string, most: number): LogLines {
  const parts = (log.rest + text).split('\n');
  const rest = parts.pop() ?? '';
  const lines = [...log.lines, ...parts];
  const dropped = Math.max(0, lines.length - most);
  return { lines: dropped === 0 ? lines : lines.slice(dropped), rest, dropped: log.dropped + dropped };
}

export const linesOf = ({ lines, rest }: LogLines): readonly string[] => (rest === '' ? lines : [...lines, rest]);

/** One line cut where it holds what is looked for, whatever the case: parts that do, and parts that do not. */
export function partsOf(line: string, wanted: string): readonly { readonly text: string; readonly isHit: boolean }[] {
  if (wanted === '') return [{ text: line, isHit: false }];
  const parts: { text: string; isHit: boolean }[] = [];
  const [low, sought] = [line.toLowerCase(), wanted.toLowerCase()];
  // Letters that change their length with their case would put the marks elsewhere.
  if (low.length !== line.length || sought.length !== wanted.length) return [{ text: line, isHit: false }];
  let at = 0;
  for (let hit = low.indexOf(sought); hit >= 0; hit = low.indexOf(sought, at)) {
    if (hit > at) parts.push({ text: line.slice(at, hit), isHit: false });
    parts.push({ text: line.slice(hit, hit + sought.length), isHit: true });
    at = hit + sought.length;
  }
  if (at < line.length || parts.length === 0) parts.push({ text: line.slice(at), isHit: false });
  return parts;
}
