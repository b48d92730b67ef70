import { expect, test } from 'vitest';
import { formatTable } from '../../../../../manager/cli/text-table.ts';
import { shareTable, shareValue } from '../../../../../manager/cli/top/share-table.ts';

const QUEUES = [
  {
    name: 'main',
    waiting: 4,
    admitted: 7,
    quota: [
      { flavor: 'default', resource: 'cpu', used: '6', nominal: '8' },
      { flavor: 'spot', resource: 'cpu', used: '500m', nominal: '2' },
      { flavor: 'default', resource: 'memory', used: '12Gi', nominal: '16Gi' },
    ],
    localQueues: [
      { key: 'team/a', waiting: 1, admitted: 1, holds: { cpu: '1' } },
      { key: 'team/b', waiting: 0, admitted: 1, holds: { cpu: '500m', memory: '1Gi' } },
    ],
  },
];

test('each figure is that of the user, and that of all', () => {
  expect(formatTable(shareTable(QUEUES), 80)).toEqual([
    'QUEUE  ADMITTED  WAITING  CPU          MEMORY',
    'main   2/7       1/4      1500m/6500m  1Gi/12Gi',
  ]);
});

test('for programs', () => {
  expect(shareValue(QUEUES)).toEqual([
    {
      name: 'main',
      admitted: 2,
      waiting: 1,
      holds: { cpu: '1500m', memory: '1Gi' },
      all: { admitted: 7, waiting: 4, holds: { cpu: '6500m', memory: '12Gi' } },
    },
  ]);
});
