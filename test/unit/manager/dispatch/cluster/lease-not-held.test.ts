import { expect, test } from 'vitest';
import { isFaultOfCluster } from '../../../../../manager/dispatch/cluster/cluster-ability.ts';
import { LeaseNotHeld, neverSent } from '../../../../../manager/dispatch/cluster/lease-not-held.ts';
import { troubleOf } from '../../../../../manager/dispatch/writes/write-troubles.ts';

test('a write without the Lease leaves no doubt, is no fault of the cluster, and says what is missing', () => {
  const error = new LeaseNotHeld();
  expect(neverSent(error)).toBe(true);
  expect(neverSent(new Error('the answer was lost'))).toBe(false);
  expect(isFaultOfCluster(error)).toBe(false);
  expect(troubleOf(error, 'eu-1', 'Delete').problem).toEqual({
    reason: 'NoAnswer',
    message:
      'the copy on cluster "eu-1" cannot be deleted now, which is tried again: ' +
      'the manager’s Lease there was not renewed in time, and nothing is written without it',
  });
});
