import { endsWithin, type Clock, type Timer } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { LineSink } from '../admission/decision-log/decision-recorder.ts';
import type { DecisionLogConfig } from '../config/decision-log-flags.ts';
import { realDisk, type LogDisk, type LogFile } from '../../shared/runtime/log-disk.ts';

/** The decision log on a disk, or on standard output. */
export interface DecisionLogFile extends LineSink {
  /** Opens the log, so that an unwritable one is found at the start. */
  open(): Promise<void>;
  /** Writes the rest of the buffer, for at most `limitMs`, and closes the log. */
  close(limitMs: number): Promise<void>;
  /** Counts lost lines from now on. */
  countLost(counter: { inc(count: number): void }): void;
}

export type DecisionLogFileDeps = {
  readonly config: DecisionLogConfig;
  readonly disk?: LogDisk;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Bound of the buffer: lines beyond it are lost, and counted. */
export const BUFFER_CHARACTERS_MAX = 8 * 1024 * 1024;
const BATCH_CHARACTERS_MAX = 256 * 1024;
/** Time for which lines are batched. */
const GATHER_MS = 50;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;

export function createDecisionLogFile({ config, disk = realDisk, clock, log }: DecisionLogFileDeps): DecisionLogFile {
  const { destination, fileBytesMax, filesMax } = config;
  const hasFiles = destination !== '-';
  let lines: (string | typeof NEXT_FILE)[] = [];
  let characters = 0;
  let file: LogFile | undefined;
  let lost = 0;
  let counter: { inc(count: number): void } | undefined;
  let failures = 0;
  let retryAtMs = 0;
  /** Lines were lost that the caller takes for written. */
  let mustReportLoss = false;
  let closed = false;
  let timer: Timer | undefined;
  let draining: Promise<void> | undefined;

  const lose = (count: number): void => {
    lost += count;
    counter?.inc(count);
  };

  const openFile = async (): Promise<LogFile> => {
    const opened = await disk.append(destination);
    // Ends a line that a crash or a full disk has cut off.
    if (hasFiles) await opened.write('\n');
    return opened;
  };

  const nextFile = async (): Promise<void> => {
    await file?.close();
    file = undefined;
    for (let number = filesMax - 1; number >= 1; number--) {
      const from = number === 1 ? destination : `${destination}.${number - 1}`;
      await disk.rename(from, `${destination}.${number}`).catch(ignoreAbsent);
    }
  };

  /** The lines of the next write; none where the next file is due. */
  const takeBatch = (): readonly string[] => {
    const batch: string[] = [];
    let length = 0;
    for (const line of lines) {
      if (line === NEXT_FILE || length + line.length > BATCH_CHARACTERS_MAX) break;
      batch.push(line);
      length += line.length;
    }
    // A single line may be longer than a batch.
    const [only] = lines;
    if (batch.length === 0 && only !== undefined && only !== NEXT_FILE) batch.push(only);
    return batch;
  };

  const failed = async (error: unknown): Promise<void> => {
    if (failures === 0) log.error('the decision log cannot be written; what it misses is counted', { destination, error });
    failures++;
    retryAtMs = clock.now() + Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX);
    lose(lines.filter((line) => line !== NEXT_FILE).length);
    lines = [];
    characters = 0;
    mustReportLoss = true;
    const broken = file;
    file = undefined;
    await broken
      ?.close()
      .catch((closing: unknown) => log.warn('a file of the decision log could not be closed', { destination, error: closing }));
  };

  const drain = async (): Promise<void> => {
    while (lines.length > 0) {
      try {
        if (lines[0] === NEXT_FILE) {
          await nextFile();
          lines.shift();
          continue;
        }
        file ??= await openFile();
        const batch = takeBatch();
        const text = batch.join('');
        await file.write(text);
        lines.splice(0, batch.length);
        characters -= text.length;
        if (failures > 0) log.info('the decision log is written again', { destination });
        failures = 0;
      } catch (error) {
        await failed(error);
      }
    }
  };

  const start = (): void => {
    timer = undefined;
    draining ??= drain().finally(() => {
      draining = undefined;
      if (lines.length > 0) later();
    });
  };
  const later = (): void => {
    if (draining === undefined) timer ??= clock.schedule(start, GATHER_MS);
  };

  return {
    fileBytesMax: hasFiles ? fileBytesMax : undefined,
    open: async () => {
      file = await openFile();
    },
    write: (line) => {
      if (closed) return false;
      const isLost = mustReportLoss || clock.now() < retryAtMs || characters + line.length > BUFFER_CHARACTERS_MAX;
      mustReportLoss = false;
      if (isLost) return false;
      lines.push(line);
      characters += line.length;
      later();
      return true;
    },
    hasRoom: () => !closed && !mustReportLoss && clock.now() >= retryAtMs && characters < BUFFER_CHARACTERS_MAX / 4,
    rotate: () => {
      if (!hasFiles || closed) return false;
      lines.push(NEXT_FILE);
      later();
      return true;
    },
    lost: lose,
    countLost: (on) => {
      counter = on;
    },
    takeLost: () => {
      const count = lost;
      lost = 0;
      return count;
    },
    close: async (limitMs) => {
      closed = true;
      timer?.cancel();
      start();
      const isDone = await endsWithin(clock, limitMs, draining ?? Promise.resolve());
      if (!isDone) {
        lose(lines.filter((line) => line !== NEXT_FILE).length);
        log.warn('the decision log could not be written to its end in time', { destination });
        return;
      }
      await file?.close();
    },
  };
}

const NEXT_FILE = Symbol('next file');

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
