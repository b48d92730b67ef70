import { describe, expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { viewJob } from '../../../../worker/job/job-view.ts';
import { aJob, indexedJob } from './situation.ts';

/** What no API server would store, but a damaged one might serve. */
const damaged = (spec: object, status: object = {}): Job => ({ ...aJob(), spec: { ...aJob().spec, ...spec }, status }) as Job;

describe('reading a Job', () => {
  test('one that is in order has no defects', () => {
    const view = viewJob(indexedJob(3, {}, { completedIndexes: '0,2', succeeded: 2 }));
    expect([view.specDefects, view.statusDefects]).toEqual([[], []]);
  });

  test('a spec that says nothing sensible is named', () => {
    const view = viewJob(
      damaged({ completionMode: 'Indexed', completions: null, parallelism: -1, backoffLimit: 1.5, template: undefined }),
    );
    expect(view.specDefects).toEqual([
      'spec.completions is missing',
      'spec.template.spec is missing',
      'spec.parallelism is not a count',
      'spec.backoffLimit is not a count',
    ]);
  });

  test('nonsense in the status is named, and the rest is kept', () => {
    const view = viewJob(
      damaged(
        {},
        {
          active: -1,
          failed: 2,
          completedIndexes: '9,1',
          conditions: [null, { type: 'Suspended', status: 'True' }],
          uncountedTerminatedPods: { succeeded: ['a', 'a'], failed: ['a', 'b'] },
        },
      ),
    );
    expect(view.status).toMatchObject({
      active: 0,
      failed: 2,
      uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] },
      conditions: [{ type: 'Suspended' }],
    });
    expect(view.statusDefects).toHaveLength(5);
  });

  test('absent counters stay absent, because null and 0 differ', () => {
    const { status } = viewJob(damaged({}, {}));
    expect('ready' in status).toBe(false);
  });
});
