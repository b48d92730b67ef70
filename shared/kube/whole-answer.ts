import type { Dispatcher } from 'undici';
import type { ByteRoom } from '../runtime/byte-room.ts';
import type { TransportResponse } from './transport.ts';
import { UnusableAnswer } from './unusable-answer.ts';

export type BodyBounds = {
  readonly maxBytes: number;
  /** What becomes of a longer one: it is an error, or ends there. */
  readonly beyond: 'fail' | 'cut';
  /** That the large bodies of one server share while they are read; absent: there is room for all. */
  readonly room: ByteRoom | undefined;
};

/** Bodies up to this are read at once: most are, and hold little. */
const SMALL_BYTES = 64 * 1024;

/**
 * Takes one answer as it comes from the connection: a stream for each body costs a third of the processor time of a request. The answer is
 * given up as soon as its body is too long, or says that it will be, and takes no more than three times its length of memory, in however
 * small pieces it comes. An aborted `signal` is an error at once, also while the request waits for a connection, on which it is then never
 * sent.
 */
export class WholeAnswer implements Dispatcher.DispatchHandler {
  /** Rejects with the reason of `signal`, what broke the connection, or an {@link UnusableAnswer}. */
  readonly received: Promise<TransportResponse>;
  readonly #boundsOf: (status: number) => BodyBounds;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #read = new Pieces();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: TransportResponse['headers'] = {};
  #bounds: BodyBounds = { maxBytes: 0, beyond: 'fail', room: undefined };
  #takesRoom = false;
  #giveBack: (() => void) | undefined;
  #over = false;

  constructor(boundsOf: (status: number) => BodyBounds, signal?: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<TransportResponse>();
    this.received = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#boundsOf = boundsOf;
    this.#signal = signal;
    if (signal?.aborted === true) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) this.#leave();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: TransportResponse['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#bounds = this.#boundsOf(status);
    const { maxBytes, beyond } = this.#bounds;
    if (beyond === 'fail' && (this.#announcedBytes() ?? 0) > maxBytes) this.#failTooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#over) return;
    const { maxBytes, beyond, room } = this.#bounds;
    const left = maxBytes - this.#read.bytes;
    if (piece.length > left) {
      if (beyond === 'fail') return this.#failTooLarge();
      this.#read.add(piece.subarray(0, left));
      this.#succeed();
      return this.#leave();
    }
    this.#read.add(piece);
    if (room === undefined || this.#takesRoom || this.#read.bytes <= SMALL_BYTES) return;
    this.#takesRoom = true;
    this.#takeRoom(room).catch(this.#fail);
  }

  onResponseEnd(): void {
    this.#succeed();
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#fail(error);
  }

  readonly #abort = (): void => {
    this.#fail(this.#signal?.reason);
    this.#leave();
  };

  readonly #fail = (error: unknown): void => this.#end(() => this.#reject(error));

  #succeed(): void {
    this.#end(() => this.#resolve({ status: this.#status, headers: this.#headers, body: this.#read.text() }));
  }

  #failTooLarge(): void {
    this.#fail(new UnusableAnswer('AnswerTooLarge', `the answer has more than ${this.#bounds.maxBytes} bytes`));
    this.#leave();
  }

  #end(settle: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    settle();
    this.#giveBack?.();
  }

  /** Ends the connection: the rest of an answer is as large as its server likes. */
  #leave(): void {
    this.#controller?.abort(new Error('the rest of the answer is not read'));
  }

  #announcedBytes(): number | undefined {
    const announced = this.#headers['content-length'];
    return typeof announced === 'string' && /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
  }

  async #takeRoom(room: ByteRoom): Promise<void> {
    this.#controller?.pause();
    const { maxBytes } = this.#bounds;
    const given = await room.take(Math.min(this.#announcedBytes() ?? maxBytes, maxBytes));
    if (given === undefined) {
      this.#fail(new UnusableAnswer('AnswerTooSlow', 'other large answers have taken all the room for such'));
      this.#leave();
    } else if (this.#over) given();
    else {
      this.#giveBack = given;
      this.#controller?.resume();
    }
  }
}

const BLOCK_BYTES = 64 * 1024;

/** Bytes in a row, in blocks that are full: a list of pieces of one byte would take a hundred times what is in it. */
class Pieces {
  bytes = 0;
  readonly #blocks: Buffer[] = [];
  /** How much of the last block is filled. */
  #filled = 0;

  add(piece: Buffer): void {
    this.bytes += piece.length;
    const last = this.#blocks.at(-1);
    const room = last === undefined ? 0 : last.length - this.#filled;
    if (last !== undefined && room > 0) this.#filled += piece.copy(last, this.#filled, 0, room);
    if (piece.length <= room) return;
    const rest = piece.subarray(room);
    // The first piece is the whole of most bodies; a large one is a block as it is.
    const asItIs = last === undefined || rest.length >= BLOCK_BYTES;
    const block = asItIs ? rest : Buffer.allocUnsafe(BLOCK_BYTES);
    this.#blocks.push(block);
    this.#filled = asItIs ? rest.length : rest.copy(block);
  }

  text(): string {
    const [only] = this.#blocks;
    if (only === undefined) return '';
    return (this.#blocks.length === 1 ? only : Buffer.concat(this.#blocks, this.bytes)).toString('utf8', 0, this.bytes);
  }
}
