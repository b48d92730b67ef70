import { describe, expect, test } from 'vitest';
import { aJob, aPod, decideOn, NOW, pods } from './situation.ts';

describe('one look at a Job', () => {
  test('a new Job starts now and gets its pods', () => {
    const job = aJob({ completions: 2, parallelism: 2 });
    job.status = {};
    expect(decideOn(job)).toMatchObject({ startedMs: NOW, plan: { kind: 'create' }, verdict: undefined });
  });

  test('a Job created suspended does not start', () => {
    expect(decideOn(aJob({ suspend: true }, {})).startedMs).toBeUndefined();
  });

  test('at the end of the Job everything that runs goes, however unsure the counts', () => {
    const { plan } = decideOn(aJob({ backoffLimit: 0, completions: 4, parallelism: 4 }, { failed: 1 }), pods(3), { satisfied: false });
    expect(plan).toMatchObject({ kind: 'finish' });
    expect(plan.kind === 'finish' && plan.pods.length).toBe(3);
  });

  test('a status full of nonsense is read as far as it can be', () => {
    const job = aJob({ completions: 3 }, {
      active: -4,
      succeeded: Number.NaN,
      failed: 'many',
      completedIndexes: 7,
      conditions: [null, 'x', { type: 'Failed' }],
      uncountedTerminatedPods: { succeeded: ['uid-x', 'uid-x', '', null], failed: 'all' },
      startTime: 'noon',
    } as never);
    const decision = decideOn(job, [aPod()]);
    expect(decision.plan.kind).toBe('keep');
    expect(decision.tally).toMatchObject({ succeeded: 1, failed: 0 });
  });
});
