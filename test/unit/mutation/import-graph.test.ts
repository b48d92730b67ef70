import { expect, test } from 'vitest';
import { importersOf, importGraph } from '../../mutation/import-graph.ts';

const GRAPH = importGraph(
  new Map([
    ['worker/a.ts', ''],
    ['worker/b.ts', "import { a } from './a.ts';"],
    ['worker/c.ts', "import type { A } from './a.ts'; import { type B } from './a.ts';"],
    ['worker/d.ts', "export { b } from './b.ts';"],
    ['test/a.test.ts', "import { a } from '../worker/a.ts';"],
    ['test/c.test.ts', "import { c } from '../worker/c.ts';"],
    ['test/d.test.ts', "import { d } from '../worker/d.ts';"],
    ['test/lazy.test.ts', "const { b } = await import('../worker/b.ts');"],
  ]),
);
const testsOf = (file: string): string[] => importersOf(GRAPH, file, (name) => name.endsWith('.test.ts')).toSorted();

test('the tests of a file are all that run it, however far away, and none that know its types only', () => {
  expect(testsOf('worker/a.ts')).toEqual(['test/a.test.ts', 'test/d.test.ts', 'test/lazy.test.ts']);
  expect(testsOf('worker/c.ts')).toEqual(['test/c.test.ts']);
});

test('a file that nobody imports has none', () => {
  expect(testsOf('worker/nowhere.ts')).toEqual([]);
});
