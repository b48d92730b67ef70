import { expect, test } from 'vitest';
import { createReleaseProfile, expectedEndMs } from '../../../../../manager/admission/workload/release-profile.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';

const release = (key: string, expectedMs: number, cluster = 'eu', clusterQueue = 'main') => ({
  key,
  clusterQueue,
  cluster,
  sinceMs: 100,
  expectedMs,
  amounts: parseRequests({ cpu: '1' }),
  charges: [],
});

test('releases are in the order of their times, by cluster and by queue, whatever comes, moves and goes', () => {
  const profile = createReleaseProfile();
  for (const [key, expectedMs] of [
    ['b', 20],
    ['a', 20],
    ['c', 10],
  ] as const)
    profile.set(release(key, expectedMs));
  profile.set(release('d', 5, 'us', 'other'));
  const keys = () =>
    [profile.on('eu'), profile.on('us'), profile.of('main'), profile.of('other')].map((list) => list.map(({ key }) => key).join(''));
  expect([keys(), profile.nextMs()]).toEqual([['cab', 'd', 'cab', 'd'], 105]);
  profile.set(release('c', 30, 'us'));
  profile.delete('d');
  expect([keys(), profile.nextMs(), profile.get('c')?.endMs]).toEqual([['ab', 'c', 'abc', ''], 120, 130]);
});

test('what is outlived is expected after twice as long, and so on, whenever that is asked', () => {
  expect([109, 110, 119, 120, 139, 140].map((nowMs) => expectedEndMs(release('a', 10), nowMs))).toEqual([110, 120, 120, 140, 140, 180]);
  const profile = createReleaseProfile();
  profile.set(release('a', 10));
  profile.set(release('b', 100));
  expect(profile.overrun(109)).toEqual([]);
  expect(profile.overrun(125).map(({ key, endMs }) => [key, endMs])).toEqual([['a', 110]]);
  expect([profile.on('eu').map(({ key, endMs }) => [key, endMs]), profile.overrun(125)]).toEqual([
    [
      ['a', 140],
      ['b', 200],
    ],
    [],
  ]);
});
