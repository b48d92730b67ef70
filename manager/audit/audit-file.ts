import { open } from 'node:fs/promises';
import { endsWithin, type Clock, type Timer } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { realDisk, type LogDisk, type LogFile } from '../../shared/runtime/log-disk.ts';
import type { AuditSink } from './audit-log.ts';

/** The audit log on a disk, or on standard output. */
export interface AuditFile extends AuditSink {
  /** Opens it, so that what can never be written is found at the start. */
  open(): Promise<void>;
  /** Writes what is left, for no longer than `limitMs`, and closes it. Resolves with how many lines were not written. */
  close(limitMs: number): Promise<number>;
}

export type AuditDisk = Pick<LogDisk, 'append'> & {
  /** Whether the last line of this file has no end. */
  readonly isCutOff: (destination: string) => Promise<boolean>;
};

export type AuditFileDeps = {
  /** A file, or `-` for standard output. */
  readonly destination: string;
  readonly disk?: AuditDisk;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Lines that wait for the disk: what comes when they are so many is dropped. */
export const AUDIT_BUFFER_CHARACTERS_MAX = 4 * 1024 * 1024;
const BATCH_LINES_MAX = 256;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;

/**
 * Appends lines to one file, which may be truncated under it (logrotate's copytruncate). Lines wait while the disk takes none, so that a
 * disk that was full for a while costs none as long as there is room; a line may come twice where a write failed in its middle.
 */
export function createAuditFile(deps: AuditFileDeps): AuditFile {
  return new BufferedAuditFile(deps);
}

class BufferedAuditFile implements AuditFile {
  readonly #destination: string;
  readonly #disk: AuditDisk;
  readonly #clock: Clock;
  readonly #log: Logger;
  #lines: string[] = [];
  #characters = 0;
  #file: LogFile | undefined;
  #failures = 0;
  #isFull = false;
  #closed = false;
  #retry: Timer | undefined;
  #draining: Promise<void> | undefined;

  constructor({ destination, disk = auditDisk, clock, log }: AuditFileDeps) {
    this.#destination = destination;
    this.#disk = disk;
    this.#clock = clock;
    this.#log = log;
  }

  async open(): Promise<void> {
    this.#file = await this.#openFile();
  }

  write(line: string): boolean {
    if (this.#closed) return false;
    if (this.#characters + line.length > AUDIT_BUFFER_CHARACTERS_MAX) {
      if (!this.#isFull) this.#log.error('the audit log is too slow: lines are dropped, and counted', { destination: this.#destination });
      this.#isFull = true;
      return false;
    }
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#retry === undefined) this.#startDraining();
    return true;
  }

  async close(limitMs: number): Promise<number> {
    this.#closed = true;
    this.#retry?.cancel();
    this.#startDraining();
    await endsWithin(this.#clock, limitMs, this.#draining ?? Promise.resolve());
    const left = this.#lines.length;
    if (left > 0) this.#log.error('the audit log could not be written to its end', { destination: this.#destination, lines: left });
    else await this.#file?.close();
    return left;
  }

  #startDraining(): void {
    this.#retry = undefined;
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      if (this.#lines.length === 0 || this.#closed) return;
      if (this.#failures === 0) this.#startDraining();
      else this.#retry = this.#clock.schedule(() => this.#startDraining(), Math.min(RETRY_MS * 2 ** (this.#failures - 1), RETRY_MS_MAX));
    });
  }

  async #drain(): Promise<void> {
    while (this.#lines.length > 0) {
      try {
        this.#file ??= await this.#openFile();
        const batch = this.#lines.slice(0, BATCH_LINES_MAX);
        const text = batch.join('');
        await this.#file.write(text);
        this.#lines = this.#lines.slice(batch.length);
        this.#characters -= text.length;
      } catch (error) {
        return this.#failed(error);
      }
      if (this.#failures > 0) this.#log.info('the audit log is written again', { destination: this.#destination });
      this.#failures = 0;
    }
    this.#isFull = false;
  }

  async #openFile(): Promise<LogFile> {
    const isCutOff = await this.#disk.isCutOff(this.#destination);
    const opened = await this.#disk.append(this.#destination);
    if (isCutOff) await opened.write('\n');
    return opened;
  }

  async #failed(error: unknown): Promise<void> {
    const destination = this.#destination;
    const log = this.#log;
    if (this.#failures === 0)
      log.error('the audit log cannot be written; its lines wait, and are dropped when they are too many', { destination, error });
    this.#failures++;
    const broken = this.#file;
    this.#file = undefined;
    await broken?.close().catch((closing: unknown) => log.warn('the audit log could not be closed', { destination, error: closing }));
  }
}

const auditDisk: AuditDisk = {
  append: realDisk.append,
  async isCutOff(destination) {
    if (destination === '-') return false;
    const handle = await open(destination, 'a+', 0o600);
    try {
      const status = await handle.stat();
      if (!status.isFile() || status.size === 0) return false;
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, status.size - 1);
      return buffer.toString() !== '\n';
    } finally {
      await handle.close();
    }
  },
};
