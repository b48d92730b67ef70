import { expect, test } from 'vitest';
import { runSeconds } from '../../../../../manager/admission/workload/run-seconds.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const condition = (type: string, at: string) => ({ type, status: 'True', reason: '', message: '', lastTransitionTime: at }) as const;

test.each([
  ['that is not known', undefined, undefined],
  ['that never started', { conditions: [condition('Failed', '2026-01-01T00:01:00Z')] }, undefined],
  ['that runs', { startTime: '2026-01-01T00:00:00Z' }, undefined],
  ['that has completed', { startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:01:30Z' }, 90],
  ['that has failed', { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Failed', '2026-01-01T00:01:00Z')] }, 60],
  ['of two clocks', { startTime: '2026-01-01T00:00:05Z', completionTime: '2026-01-01T00:00:00Z' }, 0],
  ['with a time that is none', { startTime: 'soon', completionTime: '2026-01-01T00:00:00Z' }, undefined],
])('a Job %s', (_, status, seconds) => {
  expect(runSeconds(JOB_KIND.progress({ ...(status && { status }) }), status)).toBe(seconds);
});
