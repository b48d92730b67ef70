import { expect, test } from 'vitest';
import { PendingQueue } from '../../../../../manager/admission/queues/pending-queue.ts';
import { aWorkload, queued } from '../setup.ts';

test('its order is by priority and age over all classes, and below what LocalQueues have used', () => {
  const usage: Record<string, number> = {};
  const queue = new PendingQueue('cq', (localQueue) => usage[localQueue]);
  const old = queued(aWorkload('old', { cpu: '1' }, { queue: 'a' }), 0);
  const urgent = queued(aWorkload('urgent', { memory: '1' }, { queue: 'b' }), 1, 5);
  const entries = [old, urgent].map((each) => queue.add(each, []));
  expect([queue.first(), ...entries.map((entry) => queue.before(entry))]).toEqual([urgent, 1, 0]);
  expect([queue.firstInOrder(1), queue.firstInOrder(9)]).toEqual([[urgent], [urgent, old]]);
  for (const entry of entries) queue.delete(entry);
  expect([queue.size, queue.classes.size, queue.first()]).toEqual([0, 0, undefined]);

  usage['team/a'] = 1;
  usage['team/b'] = 2;
  const shared = [old, urgent].map((each) => queue.add(each, []));
  expect([queue.first(), ...shared.map((entry) => queue.before(entry))]).toEqual([old, 0, 1]);
  usage['team/a'] = 3;
  expect(queue.first()).toBe(old);
  queue.usageChanged('team/a');
  expect(queue.first()).toBe(urgent);
  expect(queue.firstInOrder(9)).toEqual([urgent, old]);
});
