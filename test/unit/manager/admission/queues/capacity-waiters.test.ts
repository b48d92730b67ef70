import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareQueued, type QueuedWorkload } from '../../../../../manager/admission/workload/ordering.ts';
import { EVERYTHING_MAY_FIT, type CapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { PendingQueue, type Pending } from '../../../../../manager/admission/queues/pending-queue.ts';
import { isWithin } from '../../../../../manager/admission/workload/request-tree.ts';
import { CapacityWaiters } from '../../../../../manager/admission/queues/capacity-waiters.ts';
import { aWorkload, queued } from '../setup.ts';

/** So much is free on some cluster; fewer for those that do not go before `until`. */
const outlookOf = (free: Readonly<Record<string, number>>, until?: QueuedWorkload, kept = free): CapacityBounds => ({
  ...EVERYTHING_MAY_FIT,
  hasRoom: (resources, amounts, from) => {
    const rest = until === undefined || compareQueued(from, until) < 0 ? free : kept;
    return isWithin(
      amounts,
      resources.map((resource) => rest[resource] ?? Number.POSITIVE_INFINITY),
    );
  },
});

const aQueue = (name: string, arrival: number, requests: Readonly<Record<string, string>>) => {
  const queue = new PendingQueue(name, () => undefined);
  const entry = queue.add(queued(aWorkload(`of ${name}`, requests), arrival), []);
  return { queue, entry };
};
const first = (waiters: CapacityWaiters, bounds: CapacityBounds): string | undefined => waiters.first(bounds)?.queue.name;

test('who has been asked is found again once something has become free', () => {
  const waiters = new CapacityWaiters();
  const { queue, entry } = aQueue('a', 0, { cpu: '1' });
  waiters.add(queue, entry.queued);
  expect(first(waiters, EVERYTHING_MAY_FIT)).toBeUndefined();
  waiters.reopen();
  expect(first(waiters, EVERYTHING_MAY_FIT)).toBe('a');
  waiters.park(queue);
  expect(first(waiters, EVERYTHING_MAY_FIT)).toBeUndefined();
  waiters.reopen();
  expect(first(waiters, outlookOf({ cpu: 500 }))).toBeUndefined();
  waiters.reopen();
  waiters.delete(queue);
  expect([waiters.has(queue), first(waiters, EVERYTHING_MAY_FIT)]).toEqual([false, undefined]);
});

test('who reaches further up its cohort tree comes later', () => {
  const waiters = new CapacityWaiters();
  const [early, late] = [aQueue('early', 0, { cpu: '1' }), aQueue('late', 1, { cpu: '1' })];
  for (const { queue, entry } of [early, late]) waiters.add(queue, entry.queued);
  waiters.reopen();
  waiters.raiseBorrowing(early.queue, 1);
  expect(waiters.first(EVERYTHING_MAY_FIT)?.rank).toMatchObject({ head: late.entry.queued, borrowing: 0 });
  waiters.park(late.queue);
  expect(waiters.first(EVERYTHING_MAY_FIT)?.rank).toMatchObject({ head: early.entry.queued, borrowing: 1 });
});

test('whatever comes and goes, the first that may have room is the one that a look at all of them finds', () => {
  const amount = fc.integer({ min: 1, max: 5 });
  const change = fc.record({
    name: fc.nat(9),
    priority: fc.nat(2),
    cpu: amount,
    gpu: fc.option(amount),
    what: fc.constantFrom('park', 'leave', 'arrive', 'reach', 'aside'),
    borrowing: fc.nat(2),
  });
  type Parked = { queue: PendingQueue; head: QueuedWorkload; borrowing: number; entries: Pending[] };
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), amount, amount, amount, (changes, cpu, gpu, kept) => {
      const waiters = new CapacityWaiters();
      const model = new Map<number, Parked>();
      for (const [index, { name, priority, cpu: asked, gpu: devices, what, borrowing }] of changes.entries()) {
        const requests = { cpu: `${asked}`, ...(devices === null ? {} : { gpu: `${devices}` }) };
        const known = model.get(name);
        if (known === undefined) {
          if (what !== 'park') continue;
          const queue = new PendingQueue(`${name}`, () => undefined);
          const entry = queue.add(queued(aWorkload(`${index}`, requests), index, priority), []);
          waiters.add(queue, entry.queued);
          model.set(name, { queue, head: entry.queued, borrowing: 0, entries: [entry] });
        } else if (what === 'leave') {
          waiters.delete(known.queue);
          model.delete(name);
        } else if (what === 'reach') {
          waiters.raiseBorrowing(known.queue, borrowing);
          known.borrowing = borrowing;
        } else if (what === 'aside') waiters.park(known.queue);
        else {
          known.entries.push(known.queue.add(queued(aWorkload(`${index}`, requests), index, -1), []));
          waiters.changed(known.queue);
        }
      }
      waiters.reopen();
      const free = { cpu: cpu * 1000, gpu };
      const less = { cpu: Math.min(cpu, kept) * 1000, gpu: Math.min(gpu, kept) };
      const ranked = [...model.values()].toSorted((a, b) => a.borrowing - b.borrowing || compareQueued(a.head, b.head));
      const until = ranked[Math.floor(ranked.length / 2)]?.head;
      const may = ({ head, entries }: Parked): boolean => {
        const room = until === undefined || compareQueued(head, until) < 0 ? free : less;
        const least = (resource: string): number =>
          Math.min(...entries.map(({ queued: { workload } }) => workload.requests.get(resource) ?? 0));
        return least('cpu') <= room.cpu && least('gpu') <= room.gpu;
      };
      expect(first(waiters, outlookOf(free, until, less))).toBe(ranked.find(may)?.queue.name);
    }),
    { numRuns: 300 },
  );
});
