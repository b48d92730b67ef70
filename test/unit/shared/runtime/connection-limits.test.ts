import { expect, test } from 'vitest';
import {
  makingRoom,
  overdue,
  type ConnectionLimits,
  type ConnectionPhase,
  type LimitedConnection,
} from '../../../../shared/runtime/connection-limits.ts';

const LIMITS: ConnectionLimits = { connectionsMax: 10, idleMs: 100, headersMs: 5, requestMs: 10, answerMs: 30 };
const a = (address: string, sinceMs: number, phase: ConnectionPhase = 'Idle'): LimitedConnection => ({ address, sinceMs, phase });

test('each phase has its limit, but for handshakes, of which the server looks after itself', () => {
  const since = (sinceMs: number) => (['Opening', 'Idle', 'Headers', 'Body', 'Answer'] as const).map((phase) => a('x', sinceMs, phase));
  const phasesAt = (nowMs: number) => overdue(since(0), LIMITS, nowMs).map(({ phase }) => phase);
  expect([4, 5, 10, 30, 99, 100].map(phasesAt)).toEqual([
    [],
    ['Headers'],
    ['Headers', 'Body'],
    ['Headers', 'Body', 'Answer'],
    ['Headers', 'Body', 'Answer'],
    ['Idle', 'Headers', 'Body', 'Answer'],
  ]);
});

test('room is made by the address that has most, with the one that has been as it is for longest', () => {
  const connections = [a('api', 1), a('flood', 7), a('flood', 5), a('flood', 6)];
  expect(makingRoom(connections, 2)).toEqual([a('flood', 5), a('flood', 6)]);
  expect(makingRoom(connections, 3)).toEqual([a('flood', 5), a('flood', 6), a('api', 1)]);
});

test('of those that came at once the first goes first', () => {
  const [first, second] = [a('x', 0), a('x', 0)];
  expect(makingRoom([first, second], 1)[0]).toBe(first);
});

test('what is being answered stays, even where nothing else is left, and nothing goes while there is room', () => {
  expect(makingRoom([a('x', 0, 'Answer'), a('x', 5, 'Body')], 2)).toEqual([a('x', 5, 'Body')]);
  expect(makingRoom([a('x', 0)], -3)).toEqual([]);
});
