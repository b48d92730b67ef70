import { expect, test } from 'vitest';
import { CLAIMS_MAX, createClaimsByQueue, type ClaimOfHead } from '../../../../../manager/admission/scheduling/claims-by-queue.ts';
import { aWorkload, head } from '../setup.ts';

const standing = (queue: number, createdMs: number, cluster = 'eu'): ClaimOfHead => ({
  ...head(`queue-${queue}`, aWorkload(`of-${queue}`, {}, { createdMs })),
  claim: { cluster, flavors: [], borrowing: 0 },
});

test('for the first few in order something is kept; one that comes before them takes the place of the last', () => {
  const ended: string[] = [];
  const claims = createClaimsByQueue(({ clusterQueue }) => ended.push(clusterQueue));
  for (let index = 0; index < CLAIMS_MAX; index++) expect(claims.set(standing(index, index + 1))).toBe(true);
  expect(claims.set(standing(99, 99))).toBe(false);
  expect(ended).toEqual([]);
  expect(claims.set(standing(50, 0))).toBe(true);
  expect(ended).toEqual([`queue-${CLAIMS_MAX - 1}`]);
  expect(claims.all().map(({ clusterQueue }) => clusterQueue)).toEqual([
    'queue-50',
    ...Array.from({ length: CLAIMS_MAX - 1 }, (_, index) => `queue-${index}`),
  ]);
});

test('one that goes elsewhere, or is gone, leaves what was kept to others', () => {
  const ended: string[] = [];
  const claims = createClaimsByQueue(({ claim: { cluster } }) => ended.push(cluster));
  claims.set(standing(1, 1));
  claims.set(standing(1, 1));
  expect(ended).toEqual([]);
  claims.set(standing(1, 1, 'us'));
  expect(ended).toEqual(['eu']);
  claims.delete('queue-1');
  expect([ended, claims.all()]).toEqual([['eu', 'us'], []]);
});
