import { expect, test } from 'vitest';
import { dialsOf, NO_WISHES, queryOf } from '../../../../../manager/dashboard/page/wishes.ts';

const quota = [
  { flavor: 'default', resource: 'cpu', used: '4', of: '16' },
  { flavor: 'default', resource: 'memory', used: '0', of: '64Gi' },
  { flavor: 'spot', resource: 'cpu', used: '0', of: '0' },
  { flavor: 'burst', resource: 'cpu', used: '0', of: 'unlimited' },
];

test('each quota with a limit can be turned from nothing to three times what it is', () => {
  expect(dialsOf({ quota }).map(({ name, now, suffix, max }) => [name, now, suffix, max])).toEqual([
    ['default:cpu', 16, '', 48],
    ['default:memory', 64, 'Gi', 192],
    ['spot:cpu', 0, '', 10],
  ]);
});

test('each number has its unit beside it', () => {
  const units = (resource: string, of: string): string[] =>
    dialsOf({ quota: [{ flavor: 'default', resource, used: '0', of }] }).map(({ unit }) => unit);
  expect([units('cpu', '16'), units('cpu', '500m'), units('memory', '64Gi'), units('memory', '64')].flat()).toEqual([
    'cores',
    'millicores',
    'Gi',
    'bytes',
  ]);
  expect([units('nvidia.com/gpu', '8'), units('pods', '100')].flat()).toEqual(['devices', 'pods']);
});

test('the server is asked of what differs, and of nothing where nothing does', () => {
  const dials = dialsOf({ quota });
  expect(queryOf(dials, NO_WISHES)).toBeUndefined();
  expect(queryOf(dials, { ...NO_WISHES, quota: { 'default:cpu': 16 }, weight: '' })).toBeUndefined();
  const query = queryOf(dials, { quota: { 'default:memory': 96, 'default:cpu': 16 }, weight: '2', drained: ['east', 'west'] });
  expect([...(query ?? [])]).toEqual([
    ['quota', 'default:memory=96Gi'],
    ['weight', '2'],
    ['drain', 'east'],
    ['drain', 'west'],
  ]);
});
