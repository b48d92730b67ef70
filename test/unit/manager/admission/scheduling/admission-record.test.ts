import { expect, test } from 'vitest';
import { recordOf } from '../../../../../manager/admission/scheduling/admission-record.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aClusterQueue, aSnapshot, aWorkload, queueOf } from '../setup.ts';

const queue = queueOf(aSnapshot([aClusterQueue('main', { default: '2' })], []), 'main');
const placed = { kind: 'Placed', cluster: 'eu', flavors: [], verdicts: [] } as const;

test('the second of an admission is later than that of the one before, also within one second', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const record = aRecord({ cluster: 'eu', since: '2026-01-01T00:00:00Z' });
  expect(recordOf(aWorkload('a', {}, { record }), queue, placed, nowMs).since).toBe('2026-01-01T00:00:01Z');
});

test('of a first admission the epoch is 1', () => {
  expect(recordOf(aWorkload('a'), queue, placed, 0)).toMatchObject({ epoch: 1, cluster: 'eu', clusterQueue: 'main' });
});
