import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readBody } from '../../../../shared/kube/response-body.ts';
import { createByteRoom } from '../../../../shared/runtime/byte-room.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KIB = 1024;
const of = (...pieces: (string | Buffer)[]): Readable =>
  Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: false },
  );
const bounds = (maxBytes: number, parts: { beyond?: 'fail' | 'cut'; room?: ReturnType<typeof createByteRoom> } = {}) => ({
  maxBytes,
  beyond: parts.beyond ?? ('fail' as const),
  room: parts.room,
});

test('a body is its text, in however many pieces and wherever they are cut', async () => {
  const text = 'äöü €'.repeat(10_000);
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_each, index) => bytes.subarray(7 * index, 7 * index + 7));
  expect(await readBody(of(...pieces), undefined, bounds(bytes.length))).toBe(text);
  expect(await readBody(of(...pieces), String(bytes.length), bounds(bytes.length))).toBe(text);
  expect(await readBody(of(), '0', bounds(10))).toBe('');
});

test('a body that says that it is too long is not begun', async () => {
  const body = of('x'.repeat(100));
  await expect(readBody(body, '11', bounds(10))).rejects.toMatchObject({
    fault: 'AnswerTooLarge',
    message: 'the answer has more than 10 bytes',
  });
  expect(body.destroyed).toBe(true);
});

test('a body without end is left where it becomes too long', async () => {
  let given = 0;
  const body = new Readable({
    read() {
      given += KIB;
      this.push(Buffer.alloc(KIB, 120));
    },
  });
  await expect(readBody(body, undefined, bounds(100 * KIB))).rejects.toMatchObject({ fault: 'AnswerTooLarge' });
  expect(body.destroyed).toBe(true);
  expect(given).toBeLessThan(300 * KIB);
});

test('the body of a refusal is cut', async () => {
  expect(await readBody(of('x'.repeat(8), 'y'.repeat(8)), undefined, bounds(10, { beyond: 'cut' }))).toBe('xxxxxxxxyy');
  expect(await readBody(of('x'.repeat(8), 'y'.repeat(8)), '16', bounds(10, { beyond: 'cut' }))).toBe('xxxxxxxxyy');
});

test('a connection that breaks is its error', async () => {
  const body = new Readable({ read() {} });
  const reading = readBody(body, undefined, bounds(10));
  body.destroy(new Error('reset'));
  await expect(reading).rejects.toThrow('reset');
});

test('large bodies are read one after the other where there is room for one', async () => {
  const clock = new FakeClock();
  const room = createByteRoom({ bytes: 200 * KIB, waitMs: 30_000, clock });
  const first = new Readable({ read() {} });
  const reading = readBody(first, undefined, bounds(150 * KIB, { room }));
  first.push(Buffer.alloc(70 * KIB, 120));
  await clock.settle();
  const second = of(...Array.from({ length: 140 }, () => 'x'.repeat(KIB)));
  const waiting = readBody(second, undefined, bounds(150 * KIB, { room }));
  const small = readBody(of('small'), undefined, bounds(150 * KIB, { room }));
  expect(await small).toBe('small');
  await clock.settle();
  expect(second.readableEnded).toBe(false);
  first.push(null);
  expect((await reading).length).toBe(70 * KIB);
  expect((await waiting).length).toBe(140 * KIB);
});

test('who finds no room in time says so', async () => {
  const clock = new FakeClock();
  const room = createByteRoom({ bytes: 200 * KIB, waitMs: 30_000, clock });
  await room.take(200 * KIB);
  const pieces = Array.from({ length: 100 }, () => 'x'.repeat(KIB));
  const reading = readBody(of(...pieces), undefined, bounds(150 * KIB, { room })).catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await reading).toMatchObject({ fault: 'AnswerTooSlow' });
});
