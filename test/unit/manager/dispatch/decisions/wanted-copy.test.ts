import { describe, expect, test } from 'vitest';
import { anAdmittedJob, type JobParts } from '../../../../support/jobs.ts';
import { actions, conditionsHome, copyOn, plan } from './mirror-situation.ts';

describe('an admitted Job whose admission no longer stands', () => {
  const problem = { unresolved: 'cluster queue cq of its admission does not exist' };
  const local = anAdmittedJob();

  test('gets no copy, and says why', () => {
    const result = plan(local, [], {}, problem);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False AdmissionUnresolved']);
  });
  test('goes on where it runs, and is not resumed where it rests', () => {
    expect(actions(plan(local, [copyOn('eu-1', local)], {}, problem))).toEqual([]);
    expect(actions(plan(local, [copyOn('eu-1', local, { suspend: true })], {}, problem))).toEqual([]);
  });
  test('is suspended where it runs', () => {
    const evicted = anAdmittedJob({ spec: { suspend: true } });
    expect(actions(plan(evicted, [copyOn('eu-1', evicted)], {}, problem))).toEqual(['Update eu-1']);
  });
});

describe('an admitted Job that asks for more than its record holds', () => {
  const asking = (parallelism: number, parts: JobParts = {}) =>
    anAdmittedJob({ ...parts, spec: { completions: 9, parallelism, ...parts.spec } }, { requests: { pods: '2' } });

  test('gets no copy, and says by how much', () => {
    const result = plan(asking(3), []);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False ExceedsReservation']);
  });
  test('does not tell its copy, until it is admitted anew', () => {
    const copy = copyOn('eu-1', asking(2), { status: { active: 2 } });
    expect(actions(plan(asking(3), [copy]))).toEqual([]);
    expect(actions(plan(asking(1), [copy]))).toEqual(['Update eu-1']);
  });
  test('suspends its copy when it is evicted, and tells it nothing else', () => {
    const evicted = asking(3, { spec: { suspend: true } });
    expect(plan(evicted, [copyOn('eu-1', asking(2))]).remote).toMatchObject([{ spec: { suspend: true } }]);
    expect(plan(evicted, [copyOn('eu-1', asking(2))]).remote).not.toMatchObject([{ spec: { parallelism: 3 } }]);
  });
  test('does not resume its copy', () => {
    expect(actions(plan(asking(3), [copyOn('eu-1', asking(2), { suspend: true })]))).toEqual([]);
    expect(actions(plan(asking(2), [copyOn('eu-1', asking(2), { suspend: true })]))).toEqual(['Update eu-1']);
  });
});

test('the suspension of a Job reaches its copy also when a flavor of its admission is gone', () => {
  const local = anAdmittedJob({ spec: { suspend: true } }, { flavors: { cpu: 'gone' } });
  expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Update', spec: { suspend: true } }]);
});
