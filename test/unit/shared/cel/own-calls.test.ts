import { expect, test } from 'vitest';
import { CelEnvironment } from '../../../../shared/cel/cel-environment.ts';
import { durationText, timestampText } from '../../../../shared/cel/conversion-library.ts';
import { kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { escapedFieldName, fieldNamesOf } from '../../../../shared/cel/field-names.ts';
import { clauseProblem, readFormat } from '../../../../shared/cel/format-clauses.ts';
import { registerFormatFunctions } from '../../../../shared/cel/format-function.ts';
import { isDurationValue, isTypeValue } from '../../../../shared/cel/interpreter-values.ts';
import { sortByKeys } from '../../../../shared/cel/list-extension.ts';
import { replaceCalls } from '../../../../shared/cel/own-calls.ts';
import { matches, OWN_FUNCTIONS } from '../../../../shared/cel/string-functions.ts';
import { evaluate } from './evaluate.ts';

test('patterns are those of Go', () => {
  expect(matches('ABC', '(?i)^abc\\z')).toBe(true);
  expect(OWN_FUNCTIONS.get('upperAscii')?.('é', [])).toBe('é');
});

test('the presence of a field is asked of any expression', () => {
  const { interpreter } = kubernetesEnvironment.clone();
  const program = interpreter.parse("has([{'a': 1}][0].a)");
  replaceCalls(program.ast);
  expect(program.check().type).toBe('bool');
  expect(program()).toBe(true);
});

test('bytes that are no UTF-8 are no text, and those that are become it', () => {
  const error = 'error: invalid UTF-8 in bytes, cannot convert to string';
  expect(evaluate('string(x)', { x: Buffer.from([0xff]) })).toBe(error);
  expect(evaluate("string(b'a' + b'\\xff')")).toBe(error);
  expect(evaluate("[b'a', b'\\xed\\xa0\\x80'].map(x, string(x))")).toBe(error);
  expect(evaluate("[b'\\xff'].exists(x, string(x) == 'a' || true)")).toBe(true);
  expect(evaluate('string(x)', { x: Buffer.from('é𝄞') })).toBe('é𝄞');
  expect(evaluate("string(b'a' + bytes('é'))")).toBe('aé');
});

test('an environment knows the types of its variables, its clone too', () => {
  const environment = new CelEnvironment(kubernetesEnvironment.interpreter.clone()).registerVariable('xs', 'list<int>');
  expect(environment.clone().variables.get('xs')).toMatchObject({ name: 'list', parameters: [{ name: 'int' }] });
});

test('values of the interpreter are told apart', () => {
  expect([isDurationValue(evaluate("duration('1s')")), isTypeValue(evaluate('int')), isTypeValue(1n)]).toEqual([true, true, false]);
  expect(durationText({ seconds: 5400n, nanos: 500_000_000 })).toBe('5400.5s');
  expect(timestampText(new Date('2024-01-01T00:00:00.250Z'))).toBe('2024-01-01T00:00:00.25Z');
});

test('a format string is text and clauses', () => {
  expect([...readFormat('100%% of %.2f')]).toEqual(['100% of ', { verb: 'f', precision: 2 }, '']);
  expect(clauseProblem({ verb: 'd', precision: 6 }, 'string')).toBe(
    'error during formatting: decimal clause can only be used on integers, was given string',
  );
  expect(() => registerFormatFunctions(kubernetesEnvironment.interpreter)).toThrow();
});

test('items are sorted by keys, properties escaped', () => {
  expect(sortByKeys(['b', 'a'], [2n, 1n])).toEqual(['a', 'b']);
  expect(['in', 'a-b', 'a__b', 'ä'].map(escapedFieldName)).toEqual(['__in__', 'a__dash__b', 'a__underscores__b', undefined]);
});

test('a reserved word that is no keyword of the language names a property with and without its escape', () => {
  expect(['namespace', 'for', 'in', 'true', 'a-b', 'plain', 'ä'].map(fieldNamesOf)).toEqual([
    ['__namespace__', 'namespace'],
    ['__for__', 'for'],
    ['__in__'],
    ['__true__'],
    ['a__dash__b'],
    ['plain'],
    [],
  ]);
});
