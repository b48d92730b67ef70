import { describe, expect, test } from 'vitest';
import type { JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../../support/jobs.ts';
import { actions, copyOn, DISPATCHED, plan, RESERVED } from './mirror-situation.ts';

describe('a Job that was evicted', () => {
  const local = aHomeJob({
    metadata: anAdmittedJob().metadata,
    status: { active: 1, startTime: '2026-01-01T00:00:10Z', conditions: [RESERVED, DISPATCHED] },
  });

  test('is suspended in place', () => {
    const result = plan(local, [copyOn('eu-1', local, { status: { active: 1, startTime: '2026-01-01T00:00:10Z' } })]);
    expect(result.remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: true } }]);
  });

  test('gets home that nothing runs any more', () => {
    const result = plan(local, [copyOn('eu-1', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } })]);
    expect(actions(result)).toEqual([]);
    expect(result.home).toMatchObject({ patch: { active: null, startTime: null } });
  });

  test('is resumed in place when it is admitted to the same cluster', () => {
    const again = anAdmittedJob({ status: { conditions: [aCondition('Suspended'), RESERVED, DISPATCHED] } });
    const result = plan(again, [
      copyOn('eu-1', again, { suspend: true, status: { conditions: [aCondition('Suspended')], completedIndexes: '0' } }),
    ]);
    expect(result.remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: false } }]);
  });

  test('and had no copy yet needs none', () => {
    const early = aHomeJob({ metadata: anAdmittedJob().metadata });
    expect(actions(plan(early, []))).toEqual([]);
  });
});

describe('a Job that is suspended', () => {
  const local = anAdmittedJob({ spec: { suspend: true } });
  test('has its copy suspended', () => {
    expect(actions(plan(local, [copyOn('eu-1', local)]))).toEqual(['Update eu-1']);
  });
  test('leaves a copy alone that has reached its verdict, or is on its way out', () => {
    const decided: JobStatus = { conditions: [aCondition('SuccessCriteriaMet')] };
    expect(actions(plan(local, [copyOn('eu-1', local, { status: decided })]))).toEqual([]);
    expect(actions(plan(local, [copyOn('eu-1', local, { deleting: true })]))).toEqual([]);
  });
});
