import { expect, test } from 'vitest';
import { type BodyBounds, WholeAnswer } from '../../../../shared/kube/whole-answer.ts';
import { createByteRoom } from '../../../../shared/runtime/byte-room.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KIB = 1024;
const bounds = (maxBytes: number, parts: Partial<BodyBounds> = {}): BodyBounds => ({ maxBytes, beyond: 'fail', room: undefined, ...parts });

/** A connection on which an answer comes, piece by piece as long as nobody pauses it. */
class Connection {
  readonly answer: WholeAnswer;
  /** Pieces that have been sent. */
  sent = 0;
  abortedFor: Error | undefined;
  paused = false;
  readonly #waiting: (Buffer | 'end')[] = [];

  constructor(of: BodyBounds, signal?: AbortSignal) {
    this.answer = new WholeAnswer(() => of, signal);
  }

  get aborted(): boolean {
    return this.abortedFor !== undefined;
  }
  get reason(): Error | null {
    return this.abortedFor ?? null;
  }
  abort(reason: Error): void {
    this.abortedFor = reason;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
    this.#flow();
  }

  start(): this {
    this.answer.onRequestStart(this);
    return this;
  }

  head(status: number, length?: number): this {
    this.start();
    this.answer.onResponseStart(this, status, length === undefined ? {} : { 'content-length': String(length) });
    return this;
  }

  send(...pieces: (string | Buffer)[]): this {
    this.#waiting.push(...pieces.map((piece) => Buffer.from(piece)));
    this.#flow();
    return this;
  }

  end(): this {
    this.#waiting.push('end');
    this.#flow();
    return this;
  }

  #flow(): void {
    while (!this.paused && !this.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next === 'end') this.answer.onResponseEnd();
      else {
        this.sent++;
        this.answer.onResponseData(this, next);
      }
    }
  }
}

const bodyOf = async ({ answer }: Connection): Promise<string> => (await answer.received).body;

test('a body is its text, in however many pieces and wherever they are cut', async () => {
  const text = 'äöü €'.repeat(10_000);
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_each, index) => bytes.subarray(7 * index, 7 * index + 7));
  const limits = bounds(bytes.length);
  expect(
    await bodyOf(
      new Connection(limits)
        .head(200)
        .send(...pieces)
        .end(),
    ),
  ).toBe(text);
  expect(
    await bodyOf(
      new Connection(limits)
        .head(200, bytes.length)
        .send(...pieces)
        .end(),
    ),
  ).toBe(text);
  expect(await bodyOf(new Connection(bounds(10)).head(200, 0).end())).toBe('');
});

test('what is said before the answer is not the answer', async () => {
  const connection = new Connection(bounds(10)).head(103).head(201, 2).send('{}').end();
  expect(await connection.answer.received).toEqual({ status: 201, headers: { 'content-length': '2' }, body: '{}' });
});

test('a body that says that it is too long is not begun', async () => {
  const connection = new Connection(bounds(10)).head(200, 11).send('x'.repeat(11)).end();
  await expect(connection.answer.received).rejects.toMatchObject({
    fault: 'AnswerTooLarge',
    message: 'the answer has more than 10 bytes',
  });
  expect(connection.aborted).toBe(true);
  expect(connection.sent).toBe(0);
});

test('a body without end is left where it becomes too long', async () => {
  const connection = new Connection(bounds(100 * KIB)).head(200);
  connection.send(...Array.from({ length: 200 }, () => Buffer.alloc(KIB, 120)));
  await expect(connection.answer.received).rejects.toMatchObject({ fault: 'AnswerTooLarge' });
  expect(connection.aborted).toBe(true);
  expect(connection.sent).toBe(101);
});

test('the body of a refusal is cut', async () => {
  const limits = bounds(10, { beyond: 'cut' });
  expect(await bodyOf(new Connection(limits).head(500).send('x'.repeat(8), 'y'.repeat(8)).end())).toBe('xxxxxxxxyy');
  const announced = new Connection(limits).head(500, 16).send('x'.repeat(8), 'y'.repeat(8)).end();
  expect(await bodyOf(announced)).toBe('xxxxxxxxyy');
  expect(announced.aborted).toBe(true);
});

test('a connection that breaks is its error', async () => {
  const connection = new Connection(bounds(10)).head(200).send('x');
  connection.answer.onResponseError(connection, new Error('reset'));
  await expect(connection.answer.received).rejects.toThrow('reset');
});

test('a request that is given up in the middle of its answer leaves the connection', async () => {
  const giveUp = new AbortController();
  const connection = new Connection(bounds(10), giveUp.signal).head(200).send('x');
  giveUp.abort(new Error('no longer wanted'));
  await expect(connection.answer.received).rejects.toThrow('no longer wanted');
  expect(connection.aborted).toBe(true);
});

test('a request that is given up while it waits for a connection is an error at once, and never sent', async () => {
  const giveUp = new AbortController();
  const connection = new Connection(bounds(10), giveUp.signal);
  giveUp.abort(new Error('no longer wanted'));
  await expect(connection.answer.received).rejects.toThrow('no longer wanted');
  expect(connection.start().aborted).toBe(true);
});

test('large bodies are read one after the other where there is room for one', async () => {
  const clock = new FakeClock();
  const room = createByteRoom({ bytes: 200 * KIB, waitMs: 30_000, clock });
  const limits = bounds(150 * KIB, { room });
  const first = new Connection(limits).head(200).send(Buffer.alloc(70 * KIB, 120));
  await clock.settle();
  const second = new Connection(limits)
    .head(200)
    .send(...Array.from({ length: 140 }, () => 'x'.repeat(KIB)))
    .end();
  expect(await bodyOf(new Connection(limits).head(200).send('small').end())).toBe('small');
  await clock.settle();
  expect(second.paused).toBe(true);
  first.end();
  expect((await bodyOf(first)).length).toBe(70 * KIB);
  expect((await bodyOf(second)).length).toBe(140 * KIB);
});

test('who finds no room in time says so', async () => {
  const clock = new FakeClock();
  const room = createByteRoom({ bytes: 200 * KIB, waitMs: 30_000, clock });
  await room.take(200 * KIB);
  const connection = new Connection(bounds(150 * KIB, { room })).head(200).send(...Array.from({ length: 100 }, () => 'x'.repeat(KIB)));
  const reading = connection.answer.received.catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await reading).toMatchObject({ fault: 'AnswerTooSlow' });
  expect(connection.aborted).toBe(true);
});
