import { describe, expect, test } from 'vitest';
import type { Explanation, ReservationByTime } from '../../../../../manager/insight/explain/explain.ts';
import { explanationText } from '../../../../../manager/cli/explain/explanation-text.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';

const WAITS: Explanation = {
  kind: 'Waiting',
  job: 'team/x',
  clusterQueue: 'main',
  priority: 0,
  position: 7,
  waiting: 9,
  ahead: ['team/a', 'team/b'],
  asks: { cpu: '4', pods: '4' },
  outcome: 'Waits',
  reason: 'InsufficientQuota',
  message: 'cluster queue main: flavor default is short of 2 cpu',
  flavors: [
    {
      flavor: 'default',
      resource: 'cpu',
      asked: '4',
      nominal: '8',
      free: '2',
      missing: '2',
      holders: [{ job: 'team/h', amount: '6' }],
    },
  ],
  clusters: [
    { cluster: 'eu', room: [] },
    {
      cluster: 'us',
      problem: 'short of 1 cpu',
      shortOf: ['cpu'],
      room: [{ resource: 'cpu', asked: '4', capacity: '8', free: '3', holders: [] }],
    },
  ],
  changes: [
    { kind: 'FewerPods', pods: 1 },
    { kind: 'LowerRequest', resource: 'cpu', perPod: '500m' },
    { kind: 'LowerRequest', resource: 'gpu', perPod: '0' },
    { kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '2' } },
    { kind: 'MoreRoom', cluster: 'us', by: { cpu: '1' } },
    { kind: 'ClusterOpens', cluster: 'ap' },
    { kind: 'JobsEnd', jobs: ['team/h'] },
  ],
};

describe('an explanation in plain words', () => {
  test('says its place in the cohort, and when it is likely to start, from what, and how far that is to be trusted', () => {
    const text = explanationText({
      ...WAITS,
      cohort: { cohort: 'all', position: 3, waiting: 12, ahead: [{ job: 'team/a', clusterQueue: 'main' }] },
      estimatedStart: {
        kind: 'Estimate',
        at: '2026-03-01T10:42:10.5Z',
        earliest: '2026-03-01T10:31:55Z',
        latest: '2026-03-01T11:20:03.25Z',
        confidence: 0.8,
        basis: [{ runTimes: 48, clusterQueue: 'main', family: 'team/train' }, { runTimes: 1, clusterQueue: 'other' }, { runTimes: 9 }],
        limits: ['1 of 2 Jobs run longer already than any that ended before'],
      },
    });
    expect(text).toContain(`In cohort all: place 4 of 12.
  Before it: team/a (main), and 2 more
`);
    expect(text).toContain(`Estimated start: 2026-03-01T10:42:10Z; 80 of 100: 2026-03-01T10:31:55Z to
    2026-03-01T11:20:03Z
  based on the run times of 48 Jobs like team/train of cluster queue main, 1
      Job of cluster queue other, 9 Jobs of all queues, if no other Job arrives
  1 of 2 Jobs run longer already than any that ended before
`);
  });

  test('says where the end of the interval is open, and why nothing can be told', () => {
    const open = {
      kind: 'Estimate',
      at: '2026-03-01T10:42:10Z',
      earliest: '2026-03-01T10:31:55Z',
      confidence: 0.8,
      basis: [],
      limits: [],
    } as const;
    expect(explanationText({ ...WAITS, estimatedStart: open })).toContain(
      '80 of 100: after\n    2026-03-01T10:31:55Z, with no known upper limit\n',
    );
    const unknown = { kind: 'Unknown', reason: 'NoHistory', message: 'no Job has ended yet' } as const;
    expect(explanationText({ ...WAITS, estimatedStart: unknown })).toContain('No start can be estimated: no Job has ended yet.\n');
  });

  test('says what is reserved for it, and from when on', () => {
    const text = (reservation?: ReservationByTime) => explanationText({ ...WAITS, ...omitUndefined({ reservation }) });
    expect(text({ cluster: 'eu', expectedStart: '2026-03-01T10:42:10Z' })).toContain(
      `Reserved for it: room on cluster eu from 2026-03-01T10:42:10Z. Jobs that are
    expected to end before go in front of it.
`,
    );
    expect(text({ cluster: 'eu' })).toMatch(/room on cluster eu, from now on, because too few run times\s+are known/);
    expect(text()).not.toContain('Reserved');
  });

  test('says where it waits, why, and what would make it run', () => {
    expect(explanationText(WAITS)).toBe(`team/x waits in cluster queue main, place 8 of 9, priority 0. It asks for 4
    cpu, 4 pods.
  Before it: team/a, team/b, and 5 more
Why (InsufficientQuota): cluster queue main: flavor default is short of 2
    cpu
Quota:
  flavor default, cpu: asks for 4, 2 free (nominal 8), short of 2; held by
      team/h (6)
Clusters:
  eu: would take it
  us: short of 1 cpu
    cpu: asks for 4, 3 of 8 free
It would run now if one of these were true (each was tried on a copy):
  - it asked for 1 pod at once
  - each of its pods asked for 500m cpu
  - its pods asked for no gpu
  - cluster queue main had 2 cpu more of flavor default
  - cluster us had 1 cpu more
  - cluster ap took Jobs
  - Job team/h ended
`);
  });

  test('keeps to 80 columns, however long the names are', () => {
    const long = { ...WAITS, job: `team/${'x'.repeat(200)}`, message: 'word '.repeat(60) };
    for (const line of explanationText(long).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('of a Job that runs says where, and of one that has finished how', () => {
    const runs: Explanation = {
      kind: 'Admitted',
      job: 'team/x',
      clusterQueue: 'main',
      cluster: 'eu',
      since: '2026-01-01T00:00:00Z',
      flavors: { cpu: 'spot' },
      requests: { cpu: '1' },
      started: true,
    };
    expect(explanationText(runs)).toBe(
      'team/x is admitted to cluster eu since 2026-01-01T00:00:00Z, and has started.\n  It holds 1 cpu of cluster queue main, flavor spot.\n'.replace(
        'has started',
        'has\n    started',
      ),
    );
    expect(explanationText({ kind: 'Finished', job: 'team/x', result: 'Failed', at: 'then', message: 'too slow' })).toBe(
      'team/x has finished: Failed at then.\n  too slow\n',
    );
    expect(explanationText({ kind: 'NotQueued', job: 'team/x', reason: 'Held', message: 'held by somebody' })).toBe(
      'team/x waits, and is in no queue (Held):\n  held by somebody\n',
    );
  });

  test('of a Job that is next asks for nothing', () => {
    const text = explanationText({ ...WAITS, outcome: 'Next', changes: [] });
    expect(text).toContain('Nothing keeps it waiting');
    expect(text).not.toContain('would run now');
  });
});
