import type { Readable } from 'node:stream';
import type { ByteRoom } from '../runtime/byte-room.ts';
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
 * The text of a body whose Content-Length is `announced`. It is given up as soon as it is too long, or says that it will be, and takes no
 * more than three times its length of memory, in however small pieces it comes.
 */
export function readBody(
  body: Readable,
  announced: string | string[] | undefined,
  { maxBytes, beyond, room }: BodyBounds,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const announcedBytes = typeof announced === 'string' && /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
    const read = new Pieces();
    let giveBack: (() => void) | undefined;
    let takesRoom = false;
    let over = false;
    const end = (settle: () => void): void => {
      if (over) return;
      over = true;
      settle();
      giveBack?.();
    };
    const fail = (error: unknown): void => end(() => reject(error));
    const succeed = (): void => end(() => resolve(read.text()));
    const tooLarge = (): void => fail(new UnusableAnswer('AnswerTooLarge', `the answer has more than ${maxBytes} bytes`));
    const takeRoom = async (within: ByteRoom): Promise<void> => {
      body.pause();
      const given = await within.take(Math.min(announcedBytes ?? maxBytes, maxBytes));
      if (given === undefined) fail(new UnusableAnswer('AnswerTooSlow', 'other large answers have taken all the room for such'));
      else if (over) given();
      else {
        giveBack = given;
        body.resume();
        return;
      }
      body.destroy();
    };
    body.on('error', fail);
    if (announcedBytes !== undefined && announcedBytes > maxBytes && beyond === 'fail') {
      tooLarge();
      body.destroy();
      return;
    }
    body.on('end', succeed);
    body.on('data', (piece: Buffer) => {
      if (over) return;
      if (read.bytes + piece.length > maxBytes) {
        read.add(piece.subarray(0, maxBytes - read.bytes));
        if (beyond === 'fail') tooLarge();
        else succeed();
        body.destroy();
        return;
      }
      read.add(piece);
      if (room === undefined || takesRoom || read.bytes <= SMALL_BYTES) return;
      takesRoom = true;
      takeRoom(room).catch(fail);
    });
  });
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
