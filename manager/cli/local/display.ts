import type { JobRow } from './job-row.ts';
import { changedLines, liveTable } from './table.ts';

/** Where the Jobs are shown while they run. */
export interface Display {
  show(rows: readonly JobRow[]): void;
  /** A line that stays: above the table on a terminal, in its turn in a pipe. */
  note(line: string): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

const CURSOR_UP = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);
const CLEAR_BELOW = '\u001b[0J';

/** A table that is rewritten in place. */
export function terminalDisplay(output: NodeJS.WriteStream, now: () => number): Display {
  let shownLines = 0;
  let latest: readonly JobRow[] = [];
  const paint = (above: string): void => {
    const lines = latest.length === 0 ? [] : liveTable(latest, now(), (output.columns ?? 80) - 1);
    output.write(`${CURSOR_UP(shownLines)}\r${CLEAR_BELOW}${above}${lines.map((line) => `${line}\n`).join('')}`);
    shownLines = lines.length;
  };
  return {
    show(rows) {
      latest = rows;
      paint('');
    },
    note: (line) => paint(`${line}\n`),
    end() {
      shownLines = 0;
      latest = [];
    },
  };
}

/** A line for every change, with the time since the start: for pipes and logs. */
export function lineDisplay(output: NodeJS.WritableStream, now: () => number): Display {
  const startMillis = now();
  let latest: readonly JobRow[] = [];
  return {
    show(rows) {
      for (const line of changedLines(rows, latest, startMillis, now())) output.write(`${line}\n`);
      latest = rows;
    },
    note: (line) => void output.write(`${line}\n`),
    end: () => undefined,
  };
}
