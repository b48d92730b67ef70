import { closeSync, openSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { LogEncoder } from './log-format.ts';

/** Writes what a container says to its log, with the times at which it said so, until the output ends or is destroyed. */
export class ContainerOutput {
  /** Resolves when everything is written. Never rejects. */
  readonly ended: Promise<void>;
  #problem: string | undefined;

  constructor(output: Socket, path: string, clock: Clock) {
    const file = openSync(path, 'a');
    const encoder = new LogEncoder();
    const write = (entries: Buffer): void => {
      if (this.#problem !== undefined || entries.length === 0) return;
      try {
        for (let written = 0; written < entries.length; ) written += writeSync(file, entries, written);
      } catch (error) {
        // The container cannot help it that its log has no room, and runs on.
        this.#problem = `the log could not be written: ${error instanceof Error ? error.message : String(error)}`;
      }
    };
    output.on('data', (chunk: Buffer) => write(encoder.encode(chunk, clock.now())));
    output.on('error', (error) => {
      this.#problem ??= `the output could not be read: ${error.message}`;
    });
    this.ended = new Promise((resolve) => {
      output.once('close', () => {
        write(encoder.end(clock.now()));
        closeSync(file);
        resolve();
      });
    });
  }

  /** Why the log is not whole; undefined when it is. */
  get problem(): string | undefined {
    return this.#problem;
  }
}
