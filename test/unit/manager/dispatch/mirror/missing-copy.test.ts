import { describe, expect, test } from 'vitest';
import type { Absence } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { anAdmittedJob, aCondition } from '../../../../support/jobs.ts';
import { actions, CLUSTER, conditionsHome, copyOn, DISPATCHED, plan, RESERVED } from '../decisions/mirror-situation.ts';

const dispatched = { status: { active: 1, conditions: [RESERVED, DISPATCHED] } };
const on = (absence: Absence | undefined, more = {}) => ({ 'eu-1': { ...CLUSTER, absence, ...more } });

describe('a copy that is not in the list', () => {
  test('is looked for by its name before its Job says anything', () => {
    const local = anAdmittedJob(dispatched);
    for (const absence of ['Unlisted', 'Open'] as const) {
      const result = plan(local, [], on(absence));
      expect([actions(result), result.home.kind]).toEqual([['Look eu-1'], 'None']);
    }
    expect(conditionsHome(plan(local, [], on(undefined)))).toContain('Dispatched=False CopyLost');
  });

  test('of a Job that was never dispatched is made without a look', () => {
    expect(actions(plan(anAdmittedJob(), [], on('Open')))).toEqual(['Create eu-1']);
  });

  test('of a Job that was missed before is looked for again by the next manager', () => {
    const lost = aCondition('Dispatched', { status: 'False', reason: 'CopyLost', lastTransitionTime: '2026-01-01T00:00:00Z' });
    const local = anAdmittedJob({ status: { conditions: [RESERVED, lost] } });
    expect(actions(plan(local, [], on('Open')))).toEqual(['Look eu-1']);
    expect(actions(plan(local, [], on(undefined)))).toEqual(['Create eu-1']);
  });

  test('keeps a suspended Job from resting, and one that is being deleted from going', () => {
    const suspended = anAdmittedJob({ ...dispatched, spec: { suspend: true } });
    expect(actions(plan(suspended, [], on('Open')))).toEqual(['Look eu-1']);
    const metadata = { finalizers: ['switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' };
    const deleted = plan(anAdmittedJob({ ...dispatched, metadata }), [], on('Unlisted'));
    expect([actions(deleted), deleted.home.kind]).toEqual([['Look eu-1'], 'None']);
  });

  test('is not looked for while a write for a suspended Job may still be carried out', () => {
    const suspended = anAdmittedJob({ ...dispatched, spec: { suspend: true } });
    const result = plan(suspended, [], on('Open', { doubt: { kind: 'Waiting', forMs: 9_000 } }));
    expect([actions(result), result.againAfterMs]).toEqual([[], 9_000]);
  });

  test('says why nobody can tell, and goes on saying that it is dispatched', () => {
    const problem = { reason: 'NameTaken', message: 'a Job of this name' };
    const told = plan(anAdmittedJob(dispatched), [], on('Open', { problem }));
    expect(conditionsHome(told)).toContain('Dispatched=True Dispatched');
    expect(JSON.stringify(told.home)).toContain('; a Job of this name');
  });

  test('that somebody has deleted leaves its suspended Job waiting until its pods have had time to stop', () => {
    const suspended = anAdmittedJob({ ...dispatched, spec: { suspend: true } });
    const missed = plan(suspended, []);
    expect(conditionsHome(missed)).toContain('Dispatched=False CopyLost');
    expect(missed.againAfterMs).toBe(40_000);
  });
});

test('a copy in the list that lost its annotations gets them back', () => {
  const local = anAdmittedJob(dispatched);
  const { job, ...copy } = copyOn('eu-1', local);
  const damaged = { ...copy, job: { ...job, metadata: { ...job.metadata, annotations: {} } } };
  expect(plan(local, [damaged]).remote).toMatchObject([
    { kind: 'Update', annotations: { 'switchyard.dev/origin-uid': local.metadata.uid, 'switchyard.dev/dispatch-epoch': '1' } },
  ]);
});
