/** Goal: conditions of Switchyard are set alike on objects of all kinds. */
import { describe, expect, test } from 'vitest';
import { isSwitchyards, withOwn } from '../../../../manager/work-kind/own-conditions.ts';
import type { JobCondition } from '../../../../shared/api/kubernetes.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T01:00:00Z';
const condition = (type: string, status: 'True' | 'False', reason: string, message: string, nowMs: number): JobCondition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: nowMs === Date.parse(NOW) ? NOW : EARLIER,
});
const of = (type: string, status: 'True' | 'False', reason: string): JobCondition => condition(type, status, reason, '', 0);
const set = (present: JobCondition[], status: 'True' | 'False'): JobCondition[] =>
  withOwn(present, [{ type: 'Dispatched', status, reason: 'New', message: 'm' }], Date.parse(NOW), condition);

describe('a condition of Switchyard', () => {
  test('that is new has the form of its kind, after the others', () => {
    const others = [of('Other', 'True', 'Kept')];
    expect(set(others, 'True')).toEqual([...others, condition('Dispatched', 'True', 'New', 'm', Date.parse(NOW))]);
  });

  test('that keeps its status keeps its time and its place, whatever its reason', () => {
    const [other, before] = [of('Other', 'True', 'Kept'), of('Dispatched', 'True', 'Old')];
    expect(set([before, other], 'True')).toEqual([{ ...before, reason: 'New', message: 'm' }, other]);
  });

  test('that changes its status changes its time', () => {
    expect(set([of('Dispatched', 'True', 'Old')], 'False')).toMatchObject([{ status: 'False', lastTransitionTime: NOW }]);
  });
});

test('names of Switchyard and of admission checks are not for worker clusters to set', () => {
  expect(['Dispatched', 'licences', 'Complete', 'Suspended'].map(isSwitchyards)).toEqual([true, true, false, false]);
});
