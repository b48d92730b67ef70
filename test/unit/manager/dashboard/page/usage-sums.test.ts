import { expect, test } from 'vitest';
import { costOf, hourOf, hoursOf, readPrices, resourcesIn } from '../../../../../manager/dashboard/page/usage-sums.ts';

const row = (hours: Record<string, number>) => ({ name: 'a', jobs: 1, failed: 0, admittedHours: 1, hours });

test('accelerators come before cores and memory, and these before the rest', () => {
  const rows = [row({ pods: 1, memory: 4 }), row({ cpu: 2, 'nvidia.com/gpu': 8 })];
  expect(resourcesIn({ rows })).toEqual(['nvidia.com/gpu', 'cpu', 'memory', 'pods']);
  expect(resourcesIn({ rows: [] })).toEqual([]);
});

test('a cost is the hours of each resource at its price, and of one without a price nothing', () => {
  expect(costOf(row({ cpu: 10, 'nvidia.com/gpu': 2, pods: 99 }), { cpu: 0.04, 'nvidia.com/gpu': 2.5 })).toBeCloseTo(5.4);
  expect(costOf(row({ cpu: 10 }), {})).toBe(0);
});

test('hours are named by what is held', () => {
  expect(['cpu', 'memory', 'pods', 'nvidia.com/gpu'].map(hoursOf)).toEqual([
    'core hours',
    'GiB hours of memory',
    'pod hours',
    'nvidia.com/gpu hours',
  ]);
  expect(hourOf('cpu')).toBe('core hour');
});

test('whatever a browser has kept, only prices are taken', () => {
  expect(readPrices('{"cpu":0.5,"memory":-1,"pods":"2"}')).toEqual({ cpu: 0.5 });
  for (const text of [null, '', '[1]', '{', '7']) expect(readPrices(text)).toEqual({});
});
