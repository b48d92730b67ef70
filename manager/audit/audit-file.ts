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
export function createAuditFile({ destination, disk = auditDisk, clock, log }: AuditFileDeps): AuditFile {
  let lines: string[] = [];
  let characters = 0;
  let file: LogFile | undefined;
  let failures = 0;
  let isFull = false;
  let closed = false;
  let retry: Timer | undefined;
  let draining: Promise<void> | undefined;

  const openFile = async (): Promise<LogFile> => {
    const isCutOff = await disk.isCutOff(destination);
    const opened = await disk.append(destination);
    if (isCutOff) await opened.write('\n');
    return opened;
  };

  const failed = async (error: unknown): Promise<void> => {
    if (failures === 0)
      log.error('the audit log cannot be written; its lines wait, and are dropped when they are too many', { destination, error });
    failures++;
    const broken = file;
    file = undefined;
    await broken?.close().catch((closing: unknown) => log.warn('the audit log could not be closed', { destination, error: closing }));
  };

  const drain = async (): Promise<void> => {
    while (lines.length > 0) {
      try {
        file ??= await openFile();
        const batch = lines.slice(0, BATCH_LINES_MAX);
        const text = batch.join('');
        await file.write(text);
        lines = lines.slice(batch.length);
        characters -= text.length;
      } catch (error) {
        return failed(error);
      }
      if (failures > 0) log.info('the audit log is written again', { destination });
      failures = 0;
    }
    isFull = false;
  };

  const start = (): void => {
    retry = undefined;
    draining ??= drain().finally(() => {
      draining = undefined;
      if (lines.length === 0 || closed) return;
      if (failures === 0) start();
      else retry = clock.schedule(start, Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX));
    });
  };

  return {
    open: async () => {
      file = await openFile();
    },
    write: (line) => {
      if (closed) return false;
      if (characters + line.length > AUDIT_BUFFER_CHARACTERS_MAX) {
        if (!isFull) log.error('the audit log is too slow: lines are dropped, and counted', { destination });
        isFull = true;
        return false;
      }
      lines.push(line);
      characters += line.length;
      if (retry === undefined) start();
      return true;
    },
    close: async (limitMs) => {
      closed = true;
      retry?.cancel();
      start();
      await endsWithin(clock, limitMs, draining ?? Promise.resolve());
      if (lines.length > 0) log.error('the audit log could not be written to its end', { destination, lines: lines.length });
      else await file?.close();
      return lines.length;
    },
  };
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
