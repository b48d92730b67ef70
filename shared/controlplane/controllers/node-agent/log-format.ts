/**
 * How the output of a container is kept: as entries of the time at which a line was complete, `F`, and the line. What has no line feed
 * yet when it grows too long, or when the container ends, is an entry with `P` (partial): the line goes on in the next one. This is the
 * CRI's log format without the name of the stream, for both streams share one pipe, so that they stay in order.
 *
 *     2026-01-01T00:00:00.000000000Z F hello
 */
export const TIME_BYTES = 30;
/** Where the tag of an entry stands, and where its text begins. */
const TAG_AT = TIME_BYTES + 1;
const TEXT_AT = TAG_AT + 2;
/** The longest text of one entry, as with containerd. */
export const ENTRY_BYTES_MAX = 16 * 1024;
const LINE_FEED = 0x0a;
const PARTIAL = 'P'.charCodeAt(0);
const NOTHING = Buffer.alloc(0);

/** RFC 3339 with as many digits as a kubelet writes; the clock knows three of them. */
const timeText = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, -1)}000000Z`;

/** Turns output, in whatever pieces it comes, into entries. */
export class LogEncoder {
  #unfinished: Buffer = NOTHING;

  /** The entries that are complete now. */
  encode(output: Buffer, nowMs: number): Buffer {
    const text = this.#unfinished.length === 0 ? output : Buffer.concat([this.#unfinished, output]);
    const entries: Buffer[] = [];
    let start = 0;
    for (;;) {
      const lineFeed = text.indexOf(LINE_FEED, start);
      const end = lineFeed < 0 ? text.length : lineFeed;
      for (; end - start > ENTRY_BYTES_MAX; start += ENTRY_BYTES_MAX) {
        entries.push(entry(nowMs, 'P', text.subarray(start, start + ENTRY_BYTES_MAX)));
      }
      if (lineFeed < 0) break;
      entries.push(entry(nowMs, 'F', text.subarray(start, lineFeed)));
      start = lineFeed + 1;
    }
    this.#unfinished = text.subarray(start);
    return Buffer.concat(entries);
  }

  /** The last entry, of a line that will not be finished any more. */
  end(nowMs: number): Buffer {
    const rest = this.#unfinished;
    this.#unfinished = NOTHING;
    return rest.length === 0 ? NOTHING : entry(nowMs, 'P', rest);
  }
}

const entry = (nowMs: number, tag: 'F' | 'P', text: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${timeText(nowMs)} ${tag} `), text, FEED]);
const FEED = Buffer.from('\n');

/** What of a log is asked for. */
export type LogView = {
  /** Each line begins with its time. */
  readonly timestamps: boolean;
  /** Lines from then on. */
  readonly sinceMs?: number;
  /** No more than so many bytes of text, times included. */
  readonly limitBytes?: number;
};

/** Turns entries, in whatever pieces they come, back into text. */
export class LogDecoder {
  readonly #view: LogView;
  #left: number;
  #unfinished: Buffer = NOTHING;
  /** The last entry was partial, so that the next one begins no line. */
  #withinLine = false;

  constructor(view: LogView) {
    this.#view = view;
    this.#left = view.limitBytes ?? Infinity;
  }

  /** As many bytes are given as were asked for. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  decode(entries: Buffer): Buffer {
    const bytes = this.#unfinished.length === 0 ? entries : Buffer.concat([this.#unfinished, entries]);
    const shown: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#show(bytes.subarray(start, end + 1), shown);
      start = end + 1;
    }
    // The caller reads the next piece into the same buffer.
    this.#unfinished = Buffer.from(bytes.subarray(start));
    return Buffer.concat(shown);
  }

  #show(whole: Buffer, shown: Buffer[]): void {
    const partial = whole[TAG_AT] === PARTIAL;
    const beginsLine = !this.#withinLine;
    this.#withinLine = partial;
    const { timestamps, sinceMs } = this.#view;
    if (sinceMs !== undefined && Date.parse(whole.toString('latin1', 0, TIME_BYTES)) < sinceMs) return;
    if (timestamps && beginsLine) this.#push(whole.subarray(0, TAG_AT), shown);
    this.#push(whole.subarray(TEXT_AT, partial ? -1 : undefined), shown);
  }

  #push(bytes: Buffer, shown: Buffer[]): void {
    if (this.#left <= 0) return;
    const given = bytes.subarray(0, Math.min(bytes.length, this.#left));
    this.#left -= given.length;
    shown.push(given);
  }
}

/** Reads one byte of a log. */
export type ByteAt = (position: number) => number | undefined;

/**
 * Where the last `lines` lines begin: looks from `size` backwards through the positions after line feeds, which `previousFeed` finds (the
 * last one before a position, -1 where there is none). A line of several entries is one line.
 */
export function tailPosition(size: number, lines: number, previousFeed: (before: number) => number, byteAt: ByteAt): number {
  if (lines <= 0) return size;
  let found = 0;
  // The line feed that ends the log ends its last entry; it does not begin another.
  for (let start = previousFeed(size - 1) + 1; start > 0; ) {
    const before = previousFeed(start - 1) + 1;
    if (byteAt(before + TAG_AT) !== PARTIAL) found++;
    if (found === lines) return start;
    start = before;
  }
  return 0;
}
