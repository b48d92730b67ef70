import { describe, expect, test } from 'vitest';
import { playShape, type Shape } from '../../bench/kueue-shapes.ts';

/**
 * One queue of Kueue's baseline, for as long as ten of its large Jobs take, and with so many of the others that there is always one that
 * waits.
 */
const LARGE = 10;
const large = { count: LARGE, everyMs: 1200, runtimeMs: 1000, priority: 200, cpu: 20 };
const medium = { count: 20, everyMs: 500, runtimeMs: 500, priority: 100, cpu: 5 };
const shape = (classes: Shape['classes']): Shape => ({ cohorts: 1, queues: 1, nominal: 20, borrowing: 0, classes });

describe('the large Jobs of Kueue’s baseline come every 1.2 s and take all of a queue for 1.0 s', () => {
  test('in the 0.2 s between two of them medium ones start, none of which can end: by policy that is lost', () => {
    const { preemptions, lostSeconds, seconds } = playShape(shape([large, medium]), true);
    // Four at a time. The first gap is there before any medium one has come that is not running.
    expect(preemptions).toBe(4 * (LARGE - 1) - missingInTheFirstGap);
    expect(lostSeconds).toBeCloseTo(0.2 * (LARGE - 1) - missingInTheFirstGap * 0.2 * (5 / 20), 5);
    // Nothing of the medium ones is done before the last large one has ended.
    const lastLargeEnds = ((LARGE - 1) * 1200 + 1000) / 1000;
    expect(seconds).toBeCloseTo(lastLargeEnds + (20 * 5 * 0.5) / 20, 5);
  });

  test('where nobody is preempted nothing is lost', () => {
    expect(playShape(shape([large, medium]), false)).toMatchObject({ preemptions: 0, lostSeconds: 0 });
  });
});

/** By 1.0 s three medium ones have come (at 0, 0.5 and 1.0 s). */
const missingInTheFirstGap = 1;
