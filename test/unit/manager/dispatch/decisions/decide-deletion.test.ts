import { describe, expect, test } from 'vitest';
import { aCondition, aHomeJob, anAdmittedJob, restingAfter } from '../../../../support/jobs.ts';
import { COMPLETE, conditionsHome, CONNECTING, copyOn, DISPATCHED, LOST, plan, RESERVED } from './mirror-situation.ts';

describe('a Job that holds until its copies are gone', () => {
  const metadata = { finalizers: ['example.com/own', 'switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' };
  const local = anAdmittedJob({ metadata, status: { active: 1, conditions: [RESERVED, DISPATCHED] } });
  const released = { kind: 'Release', finalizers: ['example.com/own'] };

  test('has a copy deleted so that it stays for as long as its pods do, or in the background when nothing of it runs', () => {
    expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Foreground' }]);
    const resting = copyOn('eu-1', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(plan(local, [resting]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Background' }]);
    const stopping = copyOn('eu-1', local, { suspend: true, status: { terminating: 1, conditions: [aCondition('Suspended')] } });
    expect(plan(local, [stopping]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Foreground' }]);
  });

  test('may go when its cluster shows none, and not before', () => {
    const stopping = copyOn('eu-1', local, { deleting: true, status: { active: 0, terminating: 1 } });
    expect(plan(local, [stopping])).toMatchObject({ remote: [], home: { kind: 'WriteStatus', patch: { terminating: 1 } } });
    expect(plan(local, [])).toMatchObject({ remote: [], home: released });
  });

  test('tells, where others keep it, that nothing of it runs any more, in the same write', () => {
    const { home } = plan(local, []);
    expect(home).toMatchObject({ kind: 'Release', patch: { active: null } });
    expect(JSON.stringify(home)).toContain('AtRest');
    const ours = anAdmittedJob({ metadata: { ...metadata, finalizers: ['switchyard.dev/copies'] }, status: { active: 1 } });
    expect(plan(ours, []).home).toEqual({ kind: 'Release', finalizers: [] });
  });

  test('may go when it was proven to rest on a cluster that is not there any more', () => {
    const left = { cluster: 'gone' };
    expect(
      plan(anAdmittedJob({ metadata, spec: { suspend: true }, status: { conditions: [restingAfter(left)] } }, left), []).home,
    ).toMatchObject(released);
    const earlier = restingAfter({ ...left, epoch: 1 });
    const later = anAdmittedJob({ metadata, spec: { suspend: true }, status: { conditions: [earlier] } }, { ...left, epoch: 2 });
    expect(plan(later, []).home).toMatchObject({ kind: 'WriteStatus' });
  });

  test('stays while its cluster is out of reach, unknown or not listed yet, and says how to give it up', () => {
    const conditions = { kind: 'WriteStatus', status: { active: 1 } };
    expect(plan(local, [], { 'eu-1': LOST })).toMatchObject({ remote: [], home: conditions });
    expect(conditionsHome(plan(local, [], { 'eu-1': LOST }))).toContain('Dispatched=True ClusterUnreachable');
    expect(plan(local, [], { 'eu-1': CONNECTING }).home).toMatchObject(conditions);
    const elsewhere = anAdmittedJob({ metadata, status: { conditions: [DISPATCHED] } }, { cluster: 'gone' });
    const { home } = plan(elsewhere, []);
    expect(home).toMatchObject({ kind: 'WriteStatus' });
    expect(JSON.stringify(home)).toContain('kubectl patch job -n team sum --field-manager switchyard-override');
  });

  test('that has moved waits for its recorded cluster, and for another only if that shows a copy', () => {
    const moved = anAdmittedJob({ metadata }, { cluster: 'us-2', epoch: 2 });
    expect(plan(moved, [], { 'eu-1': LOST }).home).toMatchObject(released);
    expect(plan(moved, [], { 'eu-1': LOST, 'us-2': LOST }).home).toMatchObject({ kind: 'WriteStatus' });
    const left = copyOn('eu-1', moved, { epoch: 1, suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(plan(moved, [left])).toMatchObject({ remote: [{ kind: 'Delete', cluster: 'eu-1' }], home: { kind: 'None' } });
    const { home } = plan(moved, [left], { 'eu-1': CONNECTING });
    expect(JSON.stringify(home)).toContain('on cluster \\"eu-1\\" cannot be seen');
  });

  test('waits for no copy of another Job of its name', () => {
    const other = aHomeJob({ metadata: { uid: 'uid-home-0' } });
    expect(plan(local, [copyOn('us-2', other)], { 'us-2': LOST }).home).toMatchObject(released);
  });

  test('gives all back in the write that brings its end home', () => {
    const running = anAdmittedJob({ metadata: { finalizers: ['switchyard.dev/copies'] }, status: { active: 1 } });
    const { home } = plan(running, [copyOn('eu-1', running, { status: COMPLETE })]);
    expect(home).toMatchObject({ kind: 'WriteStatus', urgent: true, finalizers: [] });
  });
});
