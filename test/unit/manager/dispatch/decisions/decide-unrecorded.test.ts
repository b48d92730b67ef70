import { describe, expect, test } from 'vitest';
import { aCondition, aHomeJob, aRecord } from '../../../../support/jobs.ts';
import { actions, conditionsHome, CONNECTING, copyOn, DISPATCHED, LOST, plan } from './mirror-situation.ts';

describe('a Job that is not admitted', () => {
  test('has no copy, suspended or not', () => {
    expect(plan(aHomeJob(), [])).toEqual({ remote: [], home: { kind: 'None' } });
    expect(plan(aHomeJob({ spec: { suspend: false } }), [])).toEqual({ remote: [], home: { kind: 'None' } });
  });

  test('but lost its record has its copy suspended where it is', () => {
    const local = aHomeJob();
    expect(actions(plan(local, [copyOn('eu-1', local)]))).toEqual(['Update eu-1']);
    expect(actions(plan(local, [copyOn('eu-1', local, { suspend: true })]))).toEqual([]);
  });

  test('with a damaged record says what is wrong with it', () => {
    const local = aHomeJob({ metadata: { annotations: { 'switchyard.dev/admission': '{}' } } });
    expect(conditionsHome(plan(local, []))).toEqual(['Suspended=True JobSuspended', 'Dispatched=False NotAdmitted']);
  });
});

describe('a Job with a record that admission has not made', () => {
  const forged = JSON.stringify({ ...aRecord(), written: '2026-01-01T00:00:00Z', seal: 'x' });
  const local = aHomeJob({ metadata: { annotations: { 'switchyard.dev/admission': forged } }, spec: { suspend: false } });

  test('is not run, and says why', () => {
    const result = plan(local, []);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False NotAdmitted']);
  });
  test('has its copies suspended where they are', () => {
    expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: true } }]);
  });
});

describe('a Job that lost its record and says that it runs', () => {
  const local = aHomeJob({ status: { active: 1, startTime: '2026-01-01T00:00:00Z', conditions: [DISPATCHED] } });

  test('is at rest when no cluster has a copy', () => {
    const { home } = plan(local, []);
    expect(home).toMatchObject({ kind: 'WriteStatus', patch: { active: null, startTime: null } });
    expect(conditionsHome(plan(local, []))).toEqual(['Suspended=True JobSuspended', 'Dispatched=False NotAdmitted']);
  });
  test('is left as it is while a cluster is out of sight that may have one', () => {
    expect(plan(local, [], { 'us-2': LOST }).home).toEqual({ kind: 'None' });
    expect(plan(local, [], { 'us-2': CONNECTING }).home).toEqual({ kind: 'None' });
  });
  test('runs until the copy that was told to rest says so', () => {
    const resting = copyOn('us-2', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    const running = copyOn('eu-1', local, { status: { active: 1, startTime: '2026-01-01T00:00:00Z' } });
    expect(actions(plan(local, [resting, running]))).toEqual(['Update eu-1']);
    expect(conditionsHome(plan(local, [resting, running]))).toEqual(['Dispatched=False NotAdmitted']);
    expect(conditionsHome(plan(local, [resting]))).toEqual(['Suspended=True Reason', 'Dispatched=False NotAdmitted']);
  });
});
