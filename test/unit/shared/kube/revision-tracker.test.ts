import { expect, test } from 'vitest';
import { createServerCourse } from '../../../../shared/kube/revision-tracker.ts';

test('the highest version that anybody has seen is known', () => {
  const course = createServerCourse();
  expect(course.highest()).toBe('');
  for (const version of ['99', '101', '100', '', 'x']) course.saw(version);
  expect(course.highest()).toBe('101');
});

test('all list anew when the server is found before what had been seen, and only then', () => {
  const course = createServerCourse();
  const told: string[] = [];
  for (const name of ['one', 'other']) course.follow(() => told.push(name));
  course.saw('100');
  course.found('100', course.highest());
  course.found('50', '');
  expect(told).toEqual([]);
  course.found('99', course.highest());
  expect(told).toEqual(['one', 'other']);
});

test('what was seen before counts no more once it has been told', () => {
  const course = createServerCourse();
  let told = 0;
  course.follow(() => told++);
  course.saw('100');
  course.found('50', course.highest());
  course.found('51', course.highest());
  expect({ told, highest: course.highest() }).toEqual({ told: 1, highest: '50' });
});

test('all list anew when somebody has seen that a cache is wrong, however far the server is', () => {
  const course = createServerCourse();
  const told: string[] = [];
  for (const name of ['one', 'other']) course.follow(() => told.push(name));
  course.saw('100');
  course.doubt();
  expect([told, course.highest()]).toEqual([['one', 'other'], '100']);
});
