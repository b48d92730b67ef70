import { expect, test } from 'vitest';
import type { Effect, WhatIf } from '../../../../../manager/insight/what-if/what-if.ts';
import { whatIfText } from '../../../../../manager/cli/what-if/what-if-text.ts';

const there = { kind: 'Admitted', clusterQueue: 'main', cluster: 'east', flavors: { cpu: 'default' } } as const;
const waits = (position: number, message?: string) =>
  ({ kind: 'Waiting', clusterQueue: 'main', position, ...(message === undefined ? {} : { reason: 'x', message }) }) as const;
const outcome = (effects: readonly Effect[], parts: Partial<WhatIf> = {}): WhatIf => ({ effects, untouched: 1, settled: true, ...parts });

test('each Job is told of with what it loses, for whom, and how it ends', () => {
  const preempted = { by: 'team/first', clusterQueue: 'main', rule: 'InClusterQueue' } as const;
  const text = whatIfText(
    outcome([
      { kind: 'Submitted', job: 'team/new', with: { ...there, pods: 3 }, losses: [] },
      {
        kind: 'Evicted',
        job: 'team/low',
        now: there,
        without: there,
        with: waits(0),
        losses: [{ reason: 'Preempted', message: 'm', preempted }],
      },
      {
        kind: 'Moved',
        job: 'team/a',
        now: there,
        without: there,
        with: { ...there, cluster: 'west' },
        losses: [{ reason: 'ClusterDraining', message: 'cluster east is draining' }],
      },
      { kind: 'Delayed', job: 'team/b', now: waits(0), without: waits(0), with: waits(2, 'flavor default is short of 1 cpu'), losses: [] },
      {
        kind: 'Delayed',
        job: 'team/c',
        now: waits(1),
        without: there,
        with: { kind: 'NotQueued', reason: 'QueueStopped', message: 'stopped' },
        losses: [],
      },
      { kind: 'Evicted', job: 'team/d', now: there, without: there, with: { kind: 'Stopping', cluster: 'east' }, losses: [] },
      { kind: 'Evicted', job: 'team/e', now: there, without: there, with: { kind: 'Ends', message: 'lost' }, losses: [] },
    ]),
    ['drain east'],
  );
  expect(text).toContain('If\n  drain east\nthen,');
  expect(text).toContain('team/new: would run on east (main, flavor default) with 3 pods at once');
  expect(text).toContain('Moved to another cluster (1):\n  team/a: runs on east; cluster east is draining; would run on west');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'team/low: runs on east; preempted for team/first of main (InClusterQueue); would wait in main, place 1',
  );
  expect(text.replaceAll(/\s+/g, ' ')).toContain('would wait in main, place 3 instead of 1: flavor default is short of 1 cpu');
  expect(text).toContain('would end as Failed: lost');
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});

test('nobody is touched, and what does not settle says so', () => {
  expect(whatIfText(outcome([]), [])).toBe('If nothing were changed:\n\nNo Job is affected.\n\n1 Job is not affected.\n');
  expect(whatIfText(outcome([], { untouched: 0 }), [])).toBe('If nothing were changed:\n\nNo Job is affected.\n');
  expect(whatIfText(outcome([], { settled: false, untouched: 2 }), ['a'])).toContain(
    '2 Jobs are not affected.\nThe simulation did not settle',
  );
});

test('of many Jobs of a sort some are named', () => {
  const effects = Array.from({ length: 30 }, (_, n): Effect => ({ kind: 'Admitted', job: `team/j${n}`, with: there, losses: [] }));
  const text = whatIfText(outcome(effects), ['a']);
  expect(text).toContain('Admitted instead of waiting (30):');
  expect(text).toContain('  and 5 more; --output json names all');
});

test('what somebody has put into a name moves no cursor', () => {
  expect(whatIfText(outcome([]), ['\u001b[2Jgone'])).not.toContain('\u001b');
});
