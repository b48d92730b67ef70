import { expect, test } from 'vitest';
import { createViolations, type Finding } from '../../../../shared/runtime/violations.ts';

const found = (mark = 'a', invariant: 'slow' | 'quick' = 'slow'): Finding<'slow' | 'quick'> => ({
  invariant,
  mark,
  message: `found ${mark}`,
});
const create = () => createViolations((invariant) => (invariant === 'slow' ? 60_000 : 0), ['slow', 'quick']);
const marks = (all: readonly Finding<string>[]): string[] => all.map(({ invariant, mark }) => `${invariant} ${mark}`);

test('what is over within its grace period violates nothing', () => {
  const violations = create();
  expect(violations.looked('job', [found()], 0)).toEqual({ begun: [], ended: [] });
  expect([...violations.suspects()]).toEqual(['job']);
  expect(violations.looked('job', [found()], 59_999)).toEqual({ begun: [], ended: [] });
  expect(violations.looked('job', [], 60_000)).toEqual({ begun: [], ended: [] });
  expect([...violations.suspects()]).toEqual([]);
  expect(violations.looked('job', [found()], 60_001)).toEqual({ begun: [], ended: [] });
});

test('what lasts begins once, is counted while it lasts, and ends once', () => {
  const violations = create();
  violations.looked('job', [found()], 0);
  expect(marks(violations.looked('job', [found()], 60_000).begun)).toEqual(['slow a']);
  expect(violations.looked('job', [found()], 65_000)).toEqual({ begun: [], ended: [] });
  expect(violations.current()).toMatchObject([{ subject: 'job', sinceMs: 0 }]);
  expect(Object.fromEntries(violations.counts())).toEqual({ slow: 1, quick: 0 });
  expect(marks(violations.looked('job', [], 70_000).ended)).toEqual(['slow a']);
  expect(Object.fromEntries(violations.counts())).toEqual({ slow: 0, quick: 0 });
});

test('another finding has a time of its own, and ends the one before', () => {
  const violations = create();
  violations.looked('job', [found('a')], 0);
  violations.looked('job', [found('a'), found('b', 'quick')], 60_000);
  expect(Object.fromEntries(violations.counts())).toEqual({ slow: 1, quick: 1 });
  const turn = violations.looked('job', [found('c')], 61_000);
  expect([marks(turn.begun), marks(turn.ended)]).toEqual([[], ['slow a', 'quick b']]);
  expect(marks(violations.looked('job', [found('c')], 121_000).begun)).toEqual(['slow c']);
});
