import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { LogDecoder, type LogView, tailPosition } from './log-format.ts';

const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** The log of one run of a container, open for reading. */
export class LogFile {
  readonly #file: number;
  readonly #decoder: LogDecoder;
  #position: number;

  /** Of `tailLines` only the last lines are read, whatever else of them is asked for. */
  constructor(path: string, view: LogView, tailLines?: number) {
    this.#file = openSync(path, 'r');
    this.#decoder = new LogDecoder(view);
    this.#position = tailLines === undefined ? 0 : this.#tailPosition(tailLines);
  }

  /** Hands over what is there and was not read yet. False when nothing more is wanted. */
  read(take: (text: Buffer) => void): boolean {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let size = 1; size > 0 && !this.#decoder.isFull; ) {
      size = readSync(this.#file, buffer, 0, buffer.length, this.#position);
      this.#position += size;
      const text = this.#decoder.decode(buffer.subarray(0, size));
      if (text.length > 0) take(text);
    }
    return !this.#decoder.isFull;
  }

  close(): void {
    closeSync(this.#file);
  }

  #tailPosition(lines: number): number {
    const { size } = fstatSync(this.#file);
    const window = Buffer.alloc(CHUNK_BYTES);
    let from = size;
    let until = size;
    /** Has the window hold what lies before `position`, or all of it that fits. */
    const show = (position: number): void => {
      if (position > from && position <= until) return;
      until = position;
      from = Math.max(0, until - CHUNK_BYTES);
      readSync(this.#file, window, 0, until - from, from);
    };
    const previousFeed = (before: number): number => {
      for (let end = before; end > 0; end = from) {
        show(end);
        const found = window.subarray(0, end - from).lastIndexOf(LINE_FEED);
        if (found >= 0) return from + found;
      }
      return -1;
    };
    const byteAt = (position: number): number | undefined => {
      const one = Buffer.alloc(1);
      return readSync(this.#file, one, 0, 1, position) === 1 ? one[0] : undefined;
    };
    return tailPosition(size, lines, previousFeed, byteAt);
  }
}
