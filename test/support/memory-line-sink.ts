import type { LineSink } from '../../manager/admission/decision-log/decision-recorder.ts';

/** The lines of a decision log in memory, of which the disk can be slow or full. */
export type MemoryLineSink = LineSink & {
  /** One text for each file. */
  readonly files: readonly string[];
  /** Lines are lost from now on, or no more. */
  broken: boolean;
  fileBytesMax: number | undefined;
};

export function memoryLineSink(): MemoryLineSink {
  const files = [''];
  let lost = 0;
  return {
    files,
    broken: false,
    fileBytesMax: undefined,
    write(line) {
      if (this.broken) return false;
      files[files.length - 1] += line;
      return true;
    },
    hasRoom() {
      return !this.broken;
    },
    rotate() {
      files.push('');
      return true;
    },
    lost: (lines) => {
      lost += lines;
    },
    takeLost: () => {
      const count = lost;
      lost = 0;
      return count;
    },
  };
}
