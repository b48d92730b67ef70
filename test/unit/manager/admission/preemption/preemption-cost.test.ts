/** Goal: whom a Job displaces is found without looking at all who are admitted. Method: lists that count how often they are looked into. */
import { expect, test } from 'vitest';
import type { Admitted, AdmittedIndex } from '../../../../../manager/admission/workload/admitted-index.ts';
import { findVictims } from '../../../../../manager/admission/preemption/preemption.ts';
import { flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import { incoming, type Holding, type Incoming, type QueueOf, type Setting } from './preemption-world.ts';
import { aCluster } from '../setup.ts';

const COUNT = 10_000;
const QUEUES = 20;
const preemption: QueueOf['preemption'] = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'LowerPriority' };
/** All quota is in use: that of the first queue by the others, which borrow it. */
const setting: Setting = {
  queues: Object.fromEntries(
    Array.from({ length: QUEUES }, (_, index) => [
      `q${index}`,
      { cohort: 'all', quota: { cpu: String(COUNT / QUEUES + (index === 0 ? 30 * (QUEUES - 1) : -30)) }, preemption },
    ]),
  ),
  admitted: Array.from(
    { length: COUNT },
    (_, index): Holding => ({
      name: `j${index}`,
      queue: `q${index % QUEUES}`,
      cluster: `c${index % 7}`,
      priority: index % 50,
      since: index,
      requests: { cpu: '1' },
    }),
  ),
};
const { world, preemptor } = incoming(setting, { queue: 'q0', requests: { cpu: '1' } });

function looks(
  { priority = 0, requests }: Pick<Incoming, 'priority' | 'requests'>,
  cluster?: string,
): { readonly victims: number; readonly looks: number } {
  let count = 0;
  const counting = (list: readonly Admitted[]): readonly Admitted[] =>
    new Proxy(list, {
      get: (target, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) count++;
        return Reflect.get(target, name) as unknown;
      },
    });
  const admitted: AdmittedIndex = {
    ...world.admitted,
    of: (queue) => counting(world.admitted.of(queue)),
    on: (queue, there) => counting(world.admitted.on(queue, there)),
  };
  const asks = incoming({ ...setting, admitted: [] }, { queue: 'q0', priority, requests });
  const victims = findVictims(
    {
      preemptor: { ...preemptor, priority, workload: asks.preemptor.workload },
      charges: [...asks.preemptor.workload.requests].flatMap(([resource, amount]) =>
        resource === 'cpu' ? [[flavorResource('default', 'cpu'), amount] as const] : [],
      ),
      cluster:
        cluster === undefined ? undefined : aCluster(cluster, { capacity: { cpu: String(Math.floor(COUNT / 7)), pods: String(COUNT) } }),
    },
    { ...world, admitted },
  );
  return { victims: victims?.length ?? 0, looks: count };
}

test('one victim of its own queue, or a few, by looking at a few of each queue', () => {
  const one = looks({ priority: 40, requests: { cpu: '1' } });
  expect(one.victims).toBe(1);
  expect(one.looks).toBeLessThan(5 * QUEUES);
  const five = looks({ priority: 40, requests: { cpu: '5' } });
  expect(five.victims).toBe(5);
  expect(five.looks).toBeLessThan(5 * QUEUES);
});

test('one victim on a cluster without room', () => {
  const found = looks({ priority: 40, requests: { cpu: '1' } }, 'c3');
  expect(found.victims).toBeGreaterThan(0);
  expect(found.looks).toBeLessThan(10 * QUEUES);
});

test('that there is nobody of lower priority, or that all of them are not enough, without looking at them', () => {
  expect(looks({ priority: 0, requests: { cpu: '1' } })).toMatchObject({ victims: 0 });
  expect(looks({ priority: 0, requests: { cpu: '1' } }).looks).toBeLessThan(5 * QUEUES);
  const tooMuch = looks({ priority: 2, requests: { cpu: '900' } });
  expect(tooMuch.victims).toBe(0);
  expect(tooMuch.looks).toBeLessThan(5 * QUEUES);
});
