import { expect, test } from 'vitest';
import { dispatchedMessage, isDispatched } from '../../../../manager/api/dispatch-proof.ts';
import {
  hasStarted as hasStartedBy,
  isStartReported,
  podsLostSinceMs,
  podsReadyMessage,
  startedMessage,
} from '../../../../manager/api/start-proof.ts';
import { podsReady } from '../../../../manager/work-kind/job/job-progress.ts';
import { readyPodsNeeded } from '../../../../manager/work-kind/job/ready-pods-needed.ts';
import type { AdmissionRecord } from '../../../../manager/api/records.ts';
import type { Job, JobCondition, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { aCondition, aHomeJob, aRecord, type JobParts } from '../../../support/jobs.ts';

const record = aRecord();
const hasStarted = (job: Job, of: AdmissionRecord): boolean =>
  hasStartedBy(job.status, of, podsReady(job.status), () => readyPodsNeeded(job, of.parallelism));
const jobWith = (status: JobStatus | undefined, spec: JobParts['spec'] = {}, annotations: Record<string, string> = {}) =>
  aHomeJob({ metadata: { annotations }, spec, ...omitUndefined({ status }) });
const told = jobWith({ conditions: [aCondition('Started', { message: startedMessage(record) })] });

test('a Job has started for the very admission that is named, and for no other', () => {
  expect(hasStarted(told, record)).toBe(true);
  for (const other of [{ since: '2026-01-01T00:00:01Z' }, { epoch: 2 }, { cluster: 'us-2' }])
    expect(hasStarted(told, aRecord(other))).toBe(false);
});

test('a Job that is seen running has started, though that is not noted; one that is evicted may be seen stopping', () => {
  expect([hasStarted(jobWith({ ready: 1 }), record), isStartReported({ ready: 1 }, record)]).toEqual([true, false]);
  expect(hasStarted(jobWith({ active: 1 }), record)).toBe(true);
  expect(hasStarted(jobWith({ active: 1, ready: 0 }), record)).toBe(false);
  expect(hasStarted(jobWith({ ready: 1 }), { ...record, evicted: true })).toBe(false);
  expect(hasStarted(jobWith(undefined), record)).toBe(false);
});

test('a Job has lost pods since its condition says so, if it has started in this very admission', () => {
  const lastTransitionTime = '2026-01-01T00:05:00Z';
  const started = aCondition('Started', { message: startedMessage(record) });
  const lost = aCondition('PodsReady', { status: 'False', message: podsReadyMessage(3, 4, record), lastTransitionTime });
  const sinceMs = (...conditions: JobCondition[]) => podsLostSinceMs({ conditions }, record);
  expect(sinceMs(started, lost)).toBe(Date.parse(lastTransitionTime));
  expect([sinceMs(lost), sinceMs(started), sinceMs(started, { ...lost, status: 'True' })]).toEqual([undefined, undefined, undefined]);
  expect(sinceMs(started, { ...lost, message: podsReadyMessage(3, 4, aRecord({ epoch: 2 })) })).toBeUndefined();
});

test('a Job has been dispatched for the very placement that is named', () => {
  const status = { conditions: [aCondition('Dispatched', { message: dispatchedMessage(record) })] };
  expect([isDispatched(status, record), isDispatched(status, aRecord({ epoch: 2 })), isDispatched(undefined, record)]).toEqual([
    true,
    false,
    false,
  ]);
});
