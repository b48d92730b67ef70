import { expect, test } from 'vitest';
import type { JobSetStatus } from '../../../../../../manager/cli/local/job-set/definition.ts';
import { jobSetRow } from '../../../../../../manager/cli/local/job-set/row.ts';

const metadata = { namespace: 'default', name: 'set', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const counts = { name: 'workers', active: 2, failed: 0, ready: 1, succeeded: 1, suspended: 0 };
const NOW = Date.parse('2026-01-01T00:10:00Z');
const rowOf = (suspend: boolean, status: JobSetStatus) => jobSetRow({ metadata, spec: { suspend }, status }, NOW);

test('a JobSet that waits says why', () => {
  const waits = { type: 'QuotaReserved', status: 'False', message: 'flavor default is short of 1 cpu' };
  expect(rowOf(true, { conditions: [waits] })).toMatchObject({ name: 'set', state: 'Waiting', reason: waits.message, active: 0 });
});

test('its numbers are those of its child Jobs, and it ends with its condition', () => {
  const replicatedJobsStatus = [counts, { ...counts, name: 'leader', active: 0 }];
  expect(rowOf(false, { replicatedJobsStatus })).toMatchObject({ active: 2, succeeded: 2, failed: 0, startedMillis: NOW });
  const complete = { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:09:00Z' };
  expect(rowOf(false, { replicatedJobsStatus, conditions: [complete] })).toMatchObject({ state: 'Complete', finishedMillis: NOW - 60_000 });
});

test.each(['active', 'ready', 'succeeded', 'failed'])(
  'it has started when a child Job has a pod that counts as %s, and not before',
  (field) => {
    const none = { name: 'workers', active: 0, failed: 0, ready: 0, succeeded: 0, suspended: 0 };
    expect(rowOf(false, { replicatedJobsStatus: [none] }).startedMillis).toBeUndefined();
    expect(rowOf(false, { replicatedJobsStatus: [none, { ...none, [field]: 1 }] }).startedMillis).toBe(NOW);
  },
);
