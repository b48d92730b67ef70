import { expect, test } from 'vitest';
import { expandMacro } from '../../../../../shared/cel/checker/expand-macro.ts';
import { literalOf } from '../../../../../shared/cel/checker/literals.ts';
import { parseExpression } from '../../../../../shared/cel/checker/parse-expression.ts';
import { showProblems } from '../../../../../shared/cel/checker/show-problems.ts';
import { kindOf } from '../../../../../shared/cel/checker/syntax-errors.ts';

test('operators bind as in CEL', () => {
  const { expression, problems } = parseExpression('1 + 2 * 3 == 7 && true');
  expect(problems).toEqual([]);
  expect(expression).toMatchObject({ name: '_&&_', args: [{ name: '_==_', args: [{ name: '_+_' }, { value: 7n }] }, { value: true }] });
});

test('a macro becomes a fold over its range', () => {
  expect(parseExpression('xs.all(k, v, v > k)').expression).toMatchObject({ kind: 'fold', variables: ['k', 'v'] });
  expect(expandMacro({ kind: 'call', at: 3, name: 'has', args: [{ kind: 'ident', at: 4, name: 'x' }] })).toEqual({
    at: 4,
    message: 'invalid argument to has() macro',
  });
});

test('literals have their values', () => {
  const token = (kind: 'NUM_INT' | 'STRING', text: string) => ({ kind, text, at: 0, end: text.length });
  expect(literalOf(token('NUM_INT', '0xff'), true)).toEqual({ type: 'int', value: -255n });
  expect(literalOf(token('NUM_INT', '9223372036854775808'), false)).toEqual({ message: 'invalid int literal' });
  expect(literalOf(token('STRING', String.raw`'a\x41\n'`), false)).toEqual({ type: 'string', value: 'aA\n' });
  expect(kindOf(token('STRING', "'a'"))).toBe('STRING');
});

test('problems are shown in the order of their places, wide characters by wide marks', () => {
  const shown = showProblems("'é' +\n x", [
    { at: 7, message: 'second' },
    { at: 4, message: 'first' },
  ]);
  expect(shown).toBe("ERROR: <input>:1:5: first\n | 'é' +\n | .．..^\nERROR: <input>:2:2: second\n |  x\n | .^");
});
