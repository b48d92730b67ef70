import { expect, test } from 'vitest';
import { changeOf, isProgram, mutantsOf, mutate, type Mutant } from '../../mutation/mutants.ts';

const programsOf = (source: string): Mutant[] => mutantsOf('a.ts', source).filter((mutant) => isProgram(source, mutant));
/** What becomes of an expression, or of statements. */
const brokenTo = (source: string): string[] => programsOf(source).map((mutant) => mutate(source, mutant));

test('a condition is negated, and each half of it taken away', () => {
  expect(brokenTo('const x = a && b ? one : two;')).toEqual([
    'const x = !(a && b) ? one : two;',
    'const x = (a) ? one : two;',
    'const x = (b) ? one : two;',
  ]);
});

test('a guard is negated, and dropped', () => {
  const source = 'function f() { if (isDone) return; go(); }';
  expect(brokenTo(source)).toEqual([
    'function f() { ; go(); }',
    'function f() { if (!(isDone)) return; go(); }',
    'function f() { if (isDone) return; ; }',
  ]);
});

test.each([
  ['x(a < b);', ['x(a <= b);', ';']],
  ['x(a === b);', ['x(a !== b);', ';']],
  ['x(a - b);', ['x(a + b);', ';']],
  ['x(`a` + b);', [';']],
  ['x(!a);', ['x((a));', ';']],
  ['x(a ?? b);', ['x((a));', ';']],
  ['x(0, 1, 30);', ['x(1, 1, 30);', 'x(0, 0, 30);', 'x(0, 1, 60);', ';']],
  ['x(true);', ['x(false);', ';']],
  ['x({ a, ...b });', ['x({  ...b });', 'x({ a,  });', ';']],
  ['x([a, ...b]);', ['x([a, ]);', ';']],
  ['x(a.some(b));', ['x(a.every(b));', ';']],
  ['x(a.filter((y) => b.has(y)));', ['x((a));', 'x(a.filter((y) => !(b.has(y))));', ';']],
  ['count++;', ['count--;', ';']],
  ['count += a;', ['count -= a;', ';']],
])('%s is broken by operator, constant, entry or call', (source, mutants) => {
  expect(brokenTo(source).toSorted()).toEqual(mutants.toSorted());
});

test('an await, an error thrown and a value returned are taken away', () => {
  expect(brokenTo('async function f() { const a = await b; throw a; }')).toEqual([
    'async function f() { const a = (b); throw a; }',
    'async function f() { const a = await b; ; }',
  ]);
  expect(brokenTo('function f() { return a; }')).toEqual(['function f() { return undefined; }']);
});

test('types, imports, what is only logged and the words of errors stay', () => {
  expect(brokenTo("import { a } from 'b';\ntype A = { b: 1 };\nconst c: A = d as A;")).toEqual([]);
  expect(brokenTo('function f() { this.#log.info(1, { a }); deps.log.warn(2); if (!a) log.info(3); }')).toEqual([]);
  expect(brokenTo('const e = new ApiError(1, { a: true });')).toEqual([]);
});

test('each says its line, and on one line what it changes', () => {
  const source = 'a();\n\nif (b\n  && c) return_();';
  const told = mutantsOf('a.ts', source).map((mutant) => `${mutant.line}: ${changeOf(source, mutant)}`);
  expect(told).toEqual(['1: a(); → (dropped)', '3: b && c → !(b && c)', '3: b && c → (b)', '3: b && c → (c)', '4: return_(); → (dropped)']);
});
