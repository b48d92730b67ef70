import { expect, test } from 'vitest';
import { createTraces } from '../../../../../manager/dispatch/controller/traces.ts';

const always = (): boolean => true;

test('a Job is looked for where something of it was noted, and nowhere else', () => {
  const traces = createTraces();
  traces.note('team/a', 'eu-1');
  traces.note('team/a', 'us-2');
  traces.note('team/b', 'eu-1');
  expect(traces.of('team/a', always)).toEqual(['eu-1', 'us-2']);
  expect(traces.of('team/b', always)).toEqual(['eu-1']);
  expect(traces.of('team/c', always)).toEqual([]);
});

test('a cluster on which nothing is left is dropped, until something is noted there again', () => {
  const traces = createTraces();
  traces.note('team/a', 'eu-1');
  traces.note('team/a', 'us-2');
  expect(traces.of('team/a', (cluster) => cluster === 'us-2')).toEqual(['us-2']);
  expect(traces.of('team/a', always)).toEqual(['us-2']);
  traces.note('team/a', 'eu-1');
  expect(traces.of('team/a', always)).toEqual(['us-2', 'eu-1']);
});
