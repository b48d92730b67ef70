import { describe, expect, test } from 'vitest';
import { deletions, listed, release, writeHome } from '../../../../../manager/dispatch/decisions/mirror-plan.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';
import { COMPLETE, copyOn } from './mirror-situation.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const FINALIZERS = { finalizers: ['example.com/own', 'switchyard.dev/copies'] };

describe('a status that goes home', () => {
  test('is no write where nothing has changed, or the ledger of the worker alone', () => {
    const local = anAdmittedJob({ status: { active: 1 } });
    expect(writeHome(JOB_KIND, local, { active: 1 })).toEqual({ kind: 'None' });
    expect(writeHome(JOB_KIND, local, { active: 1, uncountedTerminatedPods: { succeeded: ['a'] } })).toEqual({ kind: 'None' });
  });

  test('may be gathered with others until the Job ends, and then takes the finalizer of this manager along', () => {
    const local = anAdmittedJob({ metadata: FINALIZERS });
    expect(writeHome(JOB_KIND, local, { active: 1 })).toMatchObject({ kind: 'WriteStatus', urgent: false });
    expect(writeHome(JOB_KIND, local, { active: 1 })).not.toHaveProperty('finalizers');
    expect(writeHome(JOB_KIND, local, COMPLETE)).toMatchObject({ kind: 'WriteStatus', urgent: true, finalizers: ['example.com/own'] });
  });
});

test('a Job without the finalizer of this manager needs no release', () => {
  expect(release(anAdmittedJob())).toEqual({ kind: 'None' });
  expect(release(anAdmittedJob({ metadata: FINALIZERS }))).toEqual({ kind: 'Release', finalizers: ['example.com/own'] });
});

test('copies are deleted once, and those with pods in the foreground', () => {
  const local = anAdmittedJob();
  const resting = copyOn('us-2', local, { suspend: true, status: { conditions: [{ type: 'Suspended', status: 'True' }] } });
  expect(deletions(JOB_KIND, [copyOn('eu-1', local), copyOn('eu-2', local, { deleting: true }), resting], 'Older')).toMatchObject([
    { cluster: 'eu-1', propagationPolicy: 'Foreground', confirm: 'Older' },
    { cluster: 'us-2', propagationPolicy: 'Background', confirm: 'Older' },
  ]);
});

test('of many clusters five are named', () => {
  expect(listed(['a', 'b'])).toBe('"a", "b"');
  expect(listed(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('"a", "b", "c", "d", "e" and 2 more');
});
