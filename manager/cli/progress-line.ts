import { progressBar, type Progress } from './progress-bar.ts';
import type { Output } from './session.ts';

/**
 * A line below all others that tells how far something with many parts is, rewritten in place: on a terminal only, and where there is more
 * than one part.
 */
export interface ProgressLine {
  /** Whether anybody sees it. */
  readonly isShown: boolean;
  /** The last is shown whenever it comes; others are not even asked for when they come too soon for a person. */
  show(progressOf: () => Progress, isLast?: boolean): Promise<void>;
  /** A line that stays, above it. */
  line(text: string): Promise<void>;
  /** Leaves nothing of it. */
  end(): Promise<void>;
}

const ERASE_LINE = '\r\u001b[K';
const REPAINT_MS = 50;

export function createProgressLine(output: Output, parts: number, now: () => number): ProgressLine {
  const isShown = output.isTerminal && parts > 1;
  let [painted, paintedMs] = ['', -Infinity];
  return {
    isShown,
    async show(progressOf, isLast = false) {
      if (!isShown || (!isLast && now() - paintedMs < REPAINT_MS)) return;
      [painted, paintedMs] = [progressBar(progressOf(), output.width), now()];
      await output.write(`${ERASE_LINE}${painted}`);
    },
    line: (text) => output.write(painted === '' ? `${text}\n` : `${ERASE_LINE}${text}\n${painted}`),
    async end() {
      if (painted === '') return;
      painted = '';
      await output.write(ERASE_LINE);
    },
  };
}
