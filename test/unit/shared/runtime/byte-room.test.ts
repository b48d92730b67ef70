import { expect, test } from 'vitest';
import { createByteRoom } from '../../../../shared/runtime/byte-room.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const aRoom = () => {
  const clock = new FakeClock();
  const room = createByteRoom({ bytes: 100, waitMs: 1_000, clock });
  const outcomes: string[] = [];
  const take = (name: string, bytes: number) =>
    room.take(bytes).then((giveBack) => {
      outcomes.push(`${name}: ${giveBack === undefined ? 'no room' : 'in'}`);
      return giveBack;
    });
  return { clock, outcomes, take };
};

test('room is given until it is full, and again when it is given back', async () => {
  const { clock, outcomes, take } = aRoom();
  const first = await take('a', 60);
  const second = take('b', 60);
  await clock.settle();
  expect(outcomes).toEqual(['a: in']);
  first?.();
  first?.();
  await second;
  const third = take('c', 60);
  await clock.advance(1_000);
  await third;
  expect(outcomes).toEqual(['a: in', 'b: in', 'c: no room']);
});

test('whoever waits for much is not overtaken by those that want little', async () => {
  const { clock, outcomes, take } = aRoom();
  const first = await take('small', 10);
  void take('large', 100);
  void take('late', 10);
  await clock.settle();
  expect(outcomes).toEqual(['small: in']);
  first?.();
  await clock.settle();
  expect(outcomes).toEqual(['small: in', 'large: in']);
});

test('one that has waited too long leaves, and those behind it come in', async () => {
  const { clock, outcomes, take } = aRoom();
  await take('a', 60);
  void take('b', 60);
  await clock.advance(500);
  void take('c', 40);
  await clock.advance(500);
  expect(outcomes).toEqual(['a: in', 'b: no room', 'c: in']);
});

test('more than the whole is never given', async () => {
  const { clock, outcomes, take } = aRoom();
  void take('a', 101);
  await clock.advance(1_000);
  expect(outcomes).toEqual(['a: no room']);
});
