import { expect, test } from 'vitest';
import { EVERYTHING_MAY_FIT, type CapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { InadmissibleQueues } from '../../../../../manager/admission/queues/inadmissible-queues.ts';
import { PendingQueue } from '../../../../../manager/admission/queues/pending-queue.ts';
import { aWorkload, queued } from '../setup.ts';

const aQueue = (name: string, cpu: string, arrival: number): PendingQueue => {
  const queue = new PendingQueue(name, () => undefined);
  queue.add(queued(aWorkload(`of ${name}`, { cpu }), arrival), []);
  return queue;
};
const takeAll = (parked: InadmissibleQueues, bounds: CapacityBounds): string[] => {
  parked.lookAgain(bounds, []);
  const names: string[] = [];
  for (let next = parked.takeNext(undefined, bounds); next !== undefined; next = parked.takeNext(undefined, bounds)) {
    parked.unpark(next);
    names.push(next.name);
  }
  return names;
};

test('those that share what has become free are taken up in order, and no others', () => {
  const parked = new InadmissibleQueues();
  for (const [name, root, arrival] of [
    ['late', 'one', 2],
    ['early', 'one', 1],
    ['other', 'two', 0],
  ] as const)
    parked.park(aQueue(name, '1', arrival), name === 'late', { ...EVERYTHING_MAY_FIT, rootOf: () => root });
  expect(takeAll(parked, EVERYTHING_MAY_FIT)).toEqual([]);
  parked.quotaFreed('one');
  expect(takeAll(parked, EVERYTHING_MAY_FIT)).toEqual(['early', 'late']);
  parked.roomFreed();
  expect(takeAll(parked, EVERYTHING_MAY_FIT)).toEqual([]);
});

test('who finds no room when quota is free is asked again when there is room', () => {
  const parked = new InadmissibleQueues();
  let room = 0;
  const bounds: CapacityBounds = {
    ...EVERYTHING_MAY_FIT,
    rootOf: () => 'root',
    blockedBy: (_queue, _resources, [cpu = 0]) => (cpu > room ? 'cluster' : undefined),
  };
  parked.park(aQueue('cq', '1', 0), false, bounds);
  parked.roomFreed();
  room = 1000;
  expect(takeAll(parked, bounds)).toEqual([]);
  room = 0;
  parked.quotaFreed('root');
  expect(takeAll(parked, bounds)).toEqual([]);
  room = 1000;
  parked.roomFreed();
  expect(takeAll(parked, bounds)).toEqual(['cq']);
});

test('failures are forgotten once what they were short of has become free', () => {
  const parked = new InadmissibleQueues();
  const queue = aQueue('cq', '1', 0);
  const [waiting] = queue.classes.values();
  const first = queue.first();
  if (waiting === undefined || first === undefined) throw new Error('nobody waits');
  parked.catchUp(queue, 'root');
  waiting.fail(first, { reason: 'InsufficientQuota', message: 'short', waitsFor: 'quota' });
  parked.roomFreed();
  parked.catchUp(queue, 'root');
  expect(waiting.hasFailed(first)).toBe(true);
  parked.quotaFreed('root');
  parked.catchUp(queue, 'root');
  expect(waiting.hasFailed(first)).toBe(false);
});
