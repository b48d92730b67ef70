import { expect, test } from 'vitest';
import { createRevisionTracker } from '../../../../shared/kube/revision-tracker.ts';

test('the highest version that anybody has seen is known', () => {
  const course = createRevisionTracker();
  expect(course.highest()).toBe('');
  for (const version of ['99', '101', '100', '', 'x']) course.observed(version);
  expect(course.highest()).toBe('101');
});

test('all list anew when the server is found before what had been seen, and only then', () => {
  const course = createRevisionTracker();
  const told: string[] = [];
  for (const name of ['one', 'other']) course.onRewind(() => told.push(name));
  course.observed('100');
  course.compared('100', course.highest());
  course.compared('50', '');
  expect(told).toEqual([]);
  course.compared('99', course.highest());
  expect(told).toEqual(['one', 'other']);
});

test('what was seen before counts no more once it has been told', () => {
  const course = createRevisionTracker();
  let told = 0;
  course.onRewind(() => told++);
  course.observed('100');
  course.compared('50', course.highest());
  course.compared('51', course.highest());
  expect({ told, highest: course.highest() }).toEqual({ told: 1, highest: '50' });
});

test('all list anew when somebody has seen that a cache is wrong, however far the server is', () => {
  const course = createRevisionTracker();
  const told: string[] = [];
  for (const name of ['one', 'other']) course.onRewind(() => told.push(name));
  course.observed('100');
  course.invalidate();
  expect([told, course.highest()]).toEqual([['one', 'other'], '100']);
});
