import { expect, test } from 'vitest';
import { createRecordKeeper } from '../../../../manager/api/record-keeper.ts';
import { ADMISSION_ANNOTATION } from '../../../../shared/api/names.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aHomeJob, aRecord, TEST_RECORD_KEYS, type JobParts } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const NOW = Date.UTC(2026, 0, 1);
const aKeeper = () => createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND);
const carrying = (record: string | undefined, resourceVersion: string, metadata: JobParts['metadata'] = {}): Job =>
  aHomeJob({
    metadata: { resourceVersion, ...(record === undefined ? {} : { annotations: { [ADMISSION_ANNOTATION]: record } }), ...metadata },
  });
const job = aHomeJob().metadata;

test('what admission has sealed is a record, also for a manager that is started anew', () => {
  const text = aKeeper().seal(job, aRecord(), NOW);
  expect(aKeeper().read(carrying(text, '11'))).toEqual({ kind: 'Record', record: aRecord() });
});

test('none, an unreadable and a forged one are told apart', () => {
  const keeper = aKeeper();
  expect(keeper.read(carrying(undefined, '10'))).toEqual({ kind: 'None' });
  expect(keeper.read(carrying('{', '11'))).toMatchObject({ kind: 'Invalid' });
  const forged = JSON.stringify({ ...aRecord(), written: '2026-01-01T00:00:00Z', seal: 'x' });
  expect(keeper.read(carrying(forged, '12'))).toEqual({
    kind: 'Forged',
    problem: 'annotation switchyard.dev/admission was not written by this manager for this Job',
  });
});

test('the record of another Job is forged', () => {
  const text = aKeeper().seal({ ...job, uid: 'another' }, aRecord(), NOW);
  expect(aKeeper().read(carrying(text, '11')).kind).toBe('Forged');
});

test('an earlier record that is put back is forged, even when both were written at once; the newest is told beside it', () => {
  const keeper = aKeeper();
  const first = keeper.seal(job, aRecord({ requests: { pods: '9' } }), NOW);
  keeper.read(carrying(first, '11'));
  const second = keeper.seal(job, aRecord({ requests: { pods: '1' } }), NOW);
  expect(keeper.read(carrying(second, '12')).kind).toBe('Record');
  const last = aRecord({ requests: { pods: '1' } });
  expect(keeper.read(carrying(first, '13'))).toEqual({
    kind: 'Forged',
    problem: 'annotation switchyard.dev/admission is an earlier one, put back',
    last,
  });
  expect(keeper.read(carrying(undefined, '14'))).toEqual({ kind: 'None', last });
  expect(keeper.read(carrying('{', '15'))).toMatchObject({ kind: 'Invalid', last });
  expect(keeper.read(carrying(second, '16')).kind).toBe('Record');
});

test('a cache that lags behind a record that was just written is no forgery', () => {
  const keeper = aKeeper();
  const first = keeper.seal(job, aRecord(), NOW);
  const second = keeper.seal(job, aRecord({ epoch: 2 }), NOW + 1);
  keeper.read(carrying(second, '12'));
  expect(keeper.read(carrying(first, '11')).kind).toBe('Record');
});

test('a clock that was set back makes no record earlier than the one before', () => {
  const keeper = aKeeper();
  keeper.read(carrying(keeper.seal(job, aRecord(), NOW), '11'));
  const later = keeper.seal(job, aRecord({ epoch: 2 }), NOW - 60_000);
  expect(keeper.read(carrying(later, '12'))).toMatchObject({ kind: 'Record', record: { epoch: 2 } });
});

test('a record that says that its Job was suspended lets nothing run', () => {
  const keeper = aKeeper();
  const annotations = { [ADMISSION_ANNOTATION]: keeper.seal(job, aRecord({ evicted: true }), NOW) };
  expect(keeper.read(aHomeJob({ metadata: { annotations } })).kind).toBe('Record');
  expect(keeper.read(aHomeJob({ metadata: { annotations }, spec: { suspend: false } }))).toMatchObject({
    kind: 'Forged',
    problem: 'spec.suspend was set to false, which is for the manager to do when the Job is admitted',
    last: { cluster: 'eu-1' },
  });
});

test('one object is judged once', () => {
  const keeper = aKeeper();
  const object = carrying(keeper.seal(job, aRecord(), NOW), '11');
  expect(keeper.read(object)).toBe(keeper.read(object));
});

test('the newest record is judged on every version of its Job: it counts on later ones, and not where they were released against it', () => {
  const keeper = aKeeper();
  const text = keeper.seal(job, aRecord({ evicted: true }), NOW);
  expect(keeper.read(carrying(text, '11')).kind).toBe('Record');
  expect(keeper.read(carrying(text, '12'))).toEqual({ kind: 'Record', record: aRecord({ evicted: true }) });
  const released = { ...carrying(text, '13'), spec: { ...carrying(text, '13').spec, suspend: false } };
  expect(keeper.read(released)).toMatchObject({ kind: 'Forged', last: { evicted: true } });
  expect(keeper.read(carrying(text, '14', { uid: 'another' })).kind).toBe('Forged');
});

test('nothing is remembered of a Job that is gone', () => {
  const keeper = aKeeper();
  keeper.read(carrying(keeper.seal(job, aRecord(), NOW), '11'));
  keeper.forget(job.uid);
  expect(keeper.read(carrying(undefined, '12'))).toEqual({ kind: 'None' });
});
