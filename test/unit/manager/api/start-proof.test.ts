import { expect, test } from 'vitest';
import { dispatchedMessage, isDispatched } from '../../../../manager/api/dispatch-proof.ts';
import { hasStarted, isStartReported, startedMessage } from '../../../../manager/api/start-proof.ts';
import { aCondition, aRecord } from '../../../support/jobs.ts';
import { podsReady } from '../../../../manager/work-kind/job/job-progress.ts';
import type { AdmissionRecord } from '../../../../manager/api/records.ts';
import type { JobStatus } from '../../../../shared/api/kubernetes.ts';

const record = aRecord();
const started = (status: JobStatus | undefined, of: AdmissionRecord): boolean => hasStarted(status, of, podsReady(status));
const told = { conditions: [aCondition('Started', { message: startedMessage(record) })] };

test('a Job has started for the very admission that is named, and for no other', () => {
  expect(started(told, record)).toBe(true);
  for (const other of [{ since: '2026-01-01T00:00:01Z' }, { epoch: 2 }, { cluster: 'us-2' }])
    expect(started(told, aRecord(other))).toBe(false);
});

test('a Job that is seen running has started, though that is not noted; one that is evicted may be seen stopping', () => {
  expect([started({ ready: 1 }, record), isStartReported({ ready: 1 }, record)]).toEqual([true, false]);
  expect(started({ active: 1 }, record)).toBe(true);
  expect(started({ active: 1, ready: 0 }, record)).toBe(false);
  expect(started({ ready: 1 }, { ...record, evicted: true })).toBe(false);
  expect(started(undefined, record)).toBe(false);
});

test('a Job has been dispatched for the very placement that is named', () => {
  const status = { conditions: [aCondition('Dispatched', { message: dispatchedMessage(record) })] };
  expect([isDispatched(status, record), isDispatched(status, aRecord({ epoch: 2 })), isDispatched(undefined, record)]).toEqual([
    true,
    false,
    false,
  ]);
});
