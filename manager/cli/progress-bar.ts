import { cutLine } from './text-layout.ts';

/** How far something with many parts is. */
export type Progress = {
  readonly done: number;
  readonly total: number;
  /** What the others do: `3 failed, 12 run`. */
  readonly words: string;
};

const BAR_COLUMNS = 24;

/**
 * `[=========>              ] 412/1000 3 failed, 12 run`, in one line of a terminal: its last column stays empty, because some terminals
 * wrap as soon as it is written to.
 */
export function progressBar({ done, total, words }: Progress, width: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * BAR_COLUMNS);
  const bar = filled === BAR_COLUMNS ? '='.repeat(BAR_COLUMNS) : `${'='.repeat(filled)}>`.padEnd(BAR_COLUMNS);
  return cutLine(`[${bar}] ${done}/${total}${words === '' ? '' : ` ${words}`}`, width - 1);
}
