import { expect, test } from 'vitest';
import { ClaimWaiters } from '../../../../../manager/admission/queues/claim-waiters.ts';
import { PendingQueue } from '../../../../../manager/admission/queues/pending-queue.ts';
import { aWorkload, queued } from '../setup.ts';

const aQueue = (name: string): PendingQueue => new PendingQueue(name, () => undefined);
const aHead = (arrival: number) => queued(aWorkload(`job-${arrival}`), arrival);

test('of each tree, the first in the order of a cycle is next: the nearest borrowing, then the oldest', () => {
  const awaiting = new ClaimWaiters((clusterQueue) => clusterQueue.slice(0, 1));
  const [far, late, early, other] = ['a-far', 'a-late', 'a-early', 'b-other'].map(aQueue);
  if (far === undefined || late === undefined || early === undefined || other === undefined) throw new Error('unreachable');
  awaiting.add(far, aHead(0), 1);
  awaiting.add(late, aHead(2), 0);
  awaiting.add(early, aHead(1), 0);
  awaiting.add(other, aHead(3), 0);
  expect(['a', 'b', 'c'].map((root) => awaiting.first(root)?.queue.name)).toEqual(['a-early', 'b-other', undefined]);
  awaiting.delete(early);
  expect(awaiting.first('a')?.queue.name).toBe('a-late');
  awaiting.delete(late);
  expect(awaiting.first('a')?.queue.name).toBe('a-far');
});

test('a ClusterQueue no longer awaits a claim when its first Workload is gone, and still does when another one is', () => {
  const awaiting = new ClaimWaiters(() => 'root');
  const queue = aQueue('cq');
  const [first, second] = [aHead(0), aHead(1)];
  awaiting.add(queue, first, 0);
  awaiting.forget(queue, second);
  expect(awaiting.first('root')?.nominated.head).toBe(first);
  awaiting.forget(queue, first);
  expect(awaiting.first('root')).toBeUndefined();
});
