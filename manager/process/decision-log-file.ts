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

export function createDecisionLogFile(deps: DecisionLogFileDeps): DecisionLogFile {
  return new BufferedLogFile(deps);
}

class BufferedLogFile implements DecisionLogFile {
  readonly fileBytesMax: number | undefined;
  readonly #config: DecisionLogConfig;
  readonly #disk: LogDisk;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #hasFiles: boolean;
  #lines: (string | typeof NEXT_FILE)[] = [];
  #characters = 0;
  #file: LogFile | undefined;
  #lost = 0;
  #counter: { inc(count: number): void } | undefined;
  #failures = 0;
  #retryAtMs = 0;
  /** Lines were lost that the caller takes for written. */
  #mustReportLoss = false;
  #closed = false;
  #timer: Timer | undefined;
  #draining: Promise<void> | undefined;

  constructor({ config, disk = realDisk, clock, log }: DecisionLogFileDeps) {
    this.#config = config;
    this.#disk = disk;
    this.#clock = clock;
    this.#log = log;
    this.#hasFiles = config.destination !== '-';
    this.fileBytesMax = this.#hasFiles ? config.fileBytesMax : undefined;
  }

  async open(): Promise<void> {
    this.#file = await this.#openFile();
  }

  write(line: string): boolean {
    if (this.#closed) return false;
    const isFull = this.#characters + line.length > BUFFER_CHARACTERS_MAX;
    const isLost = this.#mustReportLoss || this.#clock.now() < this.#retryAtMs || isFull;
    this.#mustReportLoss = false;
    if (isLost) return false;
    this.#lines.push(line);
    this.#characters += line.length;
    this.#drainLater();
    return true;
  }

  hasRoom(): boolean {
    const isWritten = !this.#closed && !this.#mustReportLoss && this.#clock.now() >= this.#retryAtMs;
    return isWritten && this.#characters < BUFFER_CHARACTERS_MAX / 4;
  }

  rotate(): boolean {
    if (!this.#hasFiles || this.#closed) return false;
    this.#lines.push(NEXT_FILE);
    this.#drainLater();
    return true;
  }

  lost(count: number): void {
    this.#lost += count;
    this.#counter?.inc(count);
  }

  countLost(on: { inc(count: number): void }): void {
    this.#counter = on;
  }

  takeLost(): number {
    const count = this.#lost;
    this.#lost = 0;
    return count;
  }

  async close(limitMs: number): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    this.#startDraining();
    const isDone = await endsWithin(this.#clock, limitMs, this.#draining ?? Promise.resolve());
    if (!isDone) {
      this.lost(this.#lines.filter((line) => line !== NEXT_FILE).length);
      this.#log.warn('the decision log could not be written to its end in time', { destination: this.#config.destination });
      return;
    }
    await this.#file?.close();
  }

  #drainLater(): void {
    if (this.#draining === undefined) this.#timer ??= this.#clock.schedule(() => this.#startDraining(), GATHER_MS);
  }

  #startDraining(): void {
    this.#timer = undefined;
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      if (this.#lines.length > 0) this.#drainLater();
    });
  }

  async #drain(): Promise<void> {
    const { destination } = this.#config;
    while (this.#lines.length > 0) {
      try {
        if (this.#lines[0] === NEXT_FILE) {
          await this.#nextFile();
          this.#lines.shift();
          continue;
        }
        this.#file ??= await this.#openFile();
        const batch = this.#takeBatch();
        const text = batch.join('');
        await this.#file.write(text);
        this.#lines.splice(0, batch.length);
        this.#characters -= text.length;
        if (this.#failures > 0) this.#log.info('the decision log is written again', { destination });
        this.#failures = 0;
      } catch (error) {
        await this.#failed(error);
      }
    }
  }

  async #openFile(): Promise<LogFile> {
    const opened = await this.#disk.append(this.#config.destination);
    // Ends a line that a crash or a full disk has cut off.
    if (this.#hasFiles) await opened.write('\n');
    return opened;
  }

  async #nextFile(): Promise<void> {
    const { destination, filesMax } = this.#config;
    await this.#file?.close();
    this.#file = undefined;
    for (let number = filesMax - 1; number >= 1; number--) {
      const from = number === 1 ? destination : `${destination}.${number - 1}`;
      await this.#disk.rename(from, `${destination}.${number}`).catch(ignoreAbsent);
    }
  }

  /** The lines of the next write; none where the next file is due. */
  #takeBatch(): readonly string[] {
    const batch: string[] = [];
    let length = 0;
    for (const line of this.#lines) {
      if (line === NEXT_FILE || length + line.length > BATCH_CHARACTERS_MAX) break;
      batch.push(line);
      length += line.length;
    }
    // A single line may be longer than a batch.
    const [only] = this.#lines;
    if (batch.length === 0 && only !== undefined && only !== NEXT_FILE) batch.push(only);
    return batch;
  }

  async #failed(error: unknown): Promise<void> {
    const { destination } = this.#config;
    const log = this.#log;
    if (this.#failures === 0) log.error('the decision log cannot be written; what it misses is counted', { destination, error });
    this.#failures++;
    this.#retryAtMs = this.#clock.now() + Math.min(RETRY_MS * 2 ** (this.#failures - 1), RETRY_MS_MAX);
    this.lost(this.#lines.filter((line) => line !== NEXT_FILE).length);
    this.#lines = [];
    this.#characters = 0;
    this.#mustReportLoss = true;
    const broken = this.#file;
    this.#file = undefined;
    await broken
      ?.close()
      .catch((closing: unknown) => log.warn('a file of the decision log could not be closed', { destination, error: closing }));
  }
}

const NEXT_FILE = Symbol('next file');

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
