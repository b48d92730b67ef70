import { describe, expect, test } from 'vitest';
import { endedRecord, executionDeadline, timeIsUp } from '../../../../../manager/admission/cache/execution-time.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const admitted = (parts: Partial<Workload> = {}, record: Partial<AdmissionRecord> = {}): Reservation => ({
  workload: aWorkload('a', {}, { phase: 'Admitted', maxExecutionSeconds: 100, ...parts }),
  record: aRecord(record),
  held: new Map(),
  assumed: false,
});

test.each<[string, Reservation, number | undefined]>([
  ['all of it from its admission on', admitted(), 100],
  ['what its earlier admissions have left', admitted({}, { executedSeconds: 30 }), 70],
  ['less than nothing once it may run for less than it has', admitted({}, { executedSeconds: 130 }), -30],
  ['any where it does not say', admitted({ maxExecutionSeconds: undefined }), undefined],
  ['any while it stops', admitted({ phase: 'Evicting' }), undefined],
  ['any while its admission is being written', { ...admitted(), assumed: true }, undefined],
])('a Workload has time: %s', (_what, reservation, seconds) => {
  expect(executionDeadline(reservation)?.dueMs).toBe(seconds === undefined ? undefined : START + seconds * 1000);
});

describe('the record of an admission that ends', () => {
  const past = (since: string, until: string) => ({ cluster: 'eu-1', since: `2026-01-01T${since}Z`, until: `2026-01-01T${until}Z` });
  test('adds what it took, in whole seconds, to what those before it took, and is one of them', () => {
    const first = past('00:00:00', '00:00:30');
    expect(endedRecord(aRecord(), START + 30_900)).toEqual(aRecord({ evicted: true, executedSeconds: 30, pastAdmissions: [first] }));
    const again = aRecord({ since: '2026-01-01T00:01:00Z', executedSeconds: 30, pastAdmissions: [first] });
    expect(endedRecord(again, START + 72_000)).toEqual({
      ...again,
      evicted: true,
      executedSeconds: 42,
      pastAdmissions: [first, past('00:01:00', '00:01:12')],
    });
  });
  test('of many earlier admissions the last eight are kept', () => {
    const many = Array.from({ length: 8 }, (_, number) => past(`00:00:0${number}`, `00:00:0${number + 1}`));
    const ended = endedRecord(aRecord({ since: '2026-01-01T00:00:20Z', pastAdmissions: many }), START + 30_000);
    expect(ended.pastAdmissions).toEqual([...many.slice(1), past('00:00:20', '00:00:30')]);
  });
  test('says nothing of no time, nor of less where clocks disagree', () => {
    expect(endedRecord(aRecord(), START + 999)).toEqual(aRecord({ evicted: true }));
    expect(endedRecord(aRecord(), START - 60_000)).toEqual(aRecord({ evicted: true }));
  });
  test('counts no admission twice', () => {
    const ended = endedRecord(aRecord(), START + 30_000);
    expect(endedRecord(ended, START + 90_000)).toBe(ended);
  });
});

test('no time is left once all of it is used, and it says how to get more', () => {
  const used = (executedSeconds?: number) =>
    timeIsUp(aWorkload('a', {}, { maxExecutionSeconds: 100, record: aRecord(executedSeconds === undefined ? {} : { executedSeconds }) }));
  expect([used(), used(99)]).toEqual([undefined, undefined]);
  expect(used(100)).toBe(
    'it has run for 100s in all, and its label switchyard.dev/max-exec-time-seconds allows 100s; to let it go on: ' +
      'kubectl label --overwrite job -n team a switchyard.dev/max-exec-time-seconds=200',
  );
  expect(timeIsUp(aWorkload('a', {}, { record: aRecord({ executedSeconds: 100 }) }))).toBeUndefined();
});
