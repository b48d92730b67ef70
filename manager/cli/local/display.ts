import type { JobRow } from '../job-row.ts';
import { changedLines, liveTable } from './table.ts';
import { cutLine, wrapHanging } from '../text-layout.ts';

/** Where the Jobs are shown while they run. */
export interface Display {
  /** Columns of a line; infinite where nothing is wrapped. */
  readonly width: () => number;
  show(rows: readonly JobRow[]): void;
  /** What is being done at the moment, until the next call, or '' for nothing; only a terminal shows it. */
  doing(line: string): void;
  /** A line that stays: above the table on a terminal, in its turn in a pipe. */
  note(line: string): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

const CURSOR_UP = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);
const CLEAR_BELOW = '\u001b[0J';

/** What the display needs of a terminal. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** A table that is rewritten in place. */
export function terminalDisplay(output: Terminal, now: () => number): Display {
  let shown: readonly string[] = [];
  let latest: readonly JobRow[] = [];
  let present = '';
  // The last column stays empty: some terminals wrap as soon as it is written to. Unknown sizes are said to be 0.
  const width = (): number => (output.columns || 80) - 1;
  const paint = (above: readonly string[]): void => {
    const table = latest.length === 0 ? [] : liveTable(latest, now(), width());
    // What has left the screen at its top cannot be rewritten.
    const lines = [...table, ...(present === '' ? [] : [cutLine(present, width())])].slice(0, (output.rows || 24) - 1);
    // A terminal that became narrower since has wrapped them.
    const shownLines = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / (width() + 1))), 0);
    output.write(`${CURSOR_UP(shownLines)}\r${CLEAR_BELOW}${[...above, ...lines].map((line) => `${line}\n`).join('')}`);
    shown = lines;
  };
  return {
    width,
    show(rows) {
      latest = rows;
      paint([]);
    },
    doing(line) {
      present = line;
      paint([]);
    },
    // An address that is longer than a line is the terminal's to wrap: what is broken here cannot be followed or copied.
    note: (line) => paint(wrapHanging(line, width(), 2, { whole: true })),
    end() {
      shown = [];
      latest = [];
      present = '';
    },
  };
}

/** A line for every change, with the time since the start: for pipes and logs. */
export function lineDisplay(output: Pick<Terminal, 'write'>, now: () => number): Display {
  const startMillis = now();
  let latest: readonly JobRow[] = [];
  return {
    width: () => Number.POSITIVE_INFINITY,
    show(rows) {
      for (const line of changedLines(rows, latest, startMillis, now())) output.write(`${line}\n`);
      latest = rows;
    },
    doing: () => undefined,
    note: (line) => void output.write(`${line}\n`),
    end: () => undefined,
  };
}
