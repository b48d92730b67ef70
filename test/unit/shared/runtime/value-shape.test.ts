import { describe, expect, test } from 'vitest';
import { durationMs } from '../../../../shared/runtime/flags.ts';
import {
  durationOrZero,
  durationShape,
  shapeInWords,
  textOfValue,
  wholeNumberPattern,
  type ValueShape,
} from '../../../../shared/runtime/value-shape.ts';

describe('a pattern for whole numbers', () => {
  test.each([
    [0, 9],
    [1, 65_535],
    [5, 5],
    [7, 1234],
    [30_001, 60_000],
    [99, 101],
    [500, 60_000],
  ])('takes those from %d to %d, and no others', (least, most) => {
    const pattern = new RegExp(`^${wholeNumberPattern(least, most)}$`);
    const wrong: number[] = [];
    for (let number = 0; number <= 70_000; number++)
      if (pattern.test(String(number)) !== (number >= least && number <= most)) wrong.push(number);
    expect(wrong).toEqual([]);
    expect(pattern.test('x')).toBe(false);
  });

  test('has no end but that of nine digits where none is given', () => {
    const pattern = new RegExp(`^${wholeNumberPattern(5)}$`);
    expect(['4', '5', '999999999', '1000000000'].map((each) => pattern.test(each))).toEqual([false, true, true, false]);
  });
});

test('the shape of a duration takes what is within its bounds, in whatever unit', () => {
  const pattern = new RegExp((durationShape(5_000, 3_600_000) as { pattern: string }).pattern);
  for (const text of ['4999ms', '5000ms', '3600001ms', '4s', '5s', '3600s', '3601s', '0m', '1m', '60m', '61m', '1h', '2h', '5', 's'])
    expect([text, pattern.test(text)]).toEqual([
      text,
      /[a-z]/.test(text) && text !== 's' && durationMs(text) >= 5_000 && durationMs(text) <= 3_600_000,
    ]);
});

test('0 for never is a number in YAML', () => {
  expect(durationOrZero(5_000)).toMatchObject({ anyOf: [{ type: 'string' }, { pattern: '^0+(ms|s|m|h)?$' }, { enum: [0] }] });
});

test.each<[ValueShape, unknown, string | undefined]>([
  [{ type: 'boolean' }, true, 'true'],
  [{ type: 'boolean' }, 'true', undefined],
  [{ type: 'integer' }, 5, '5'],
  [{ type: 'integer' }, 5.5, undefined],
  [{ type: 'integer' }, '5', undefined],
  [{ type: 'number' }, 1.5, '1.5'],
  [{ type: 'string' }, 'a,b', 'a,b'],
  [{ type: 'string' }, 5, undefined],
  [{ type: 'string' }, null, undefined],
  [{ type: 'array', items: { type: 'string' } }, ['a', 'b'], 'a,b'],
  [{ type: 'array', items: { type: 'string' } }, [], ''],
  [{ type: 'array', items: { type: 'string' } }, ['a,b'], undefined],
  [{ type: 'array', items: { type: 'string' } }, [['a']], undefined],
  [{ type: 'array', items: { type: 'string' } }, 'a', undefined],
  [{ type: 'object', additionalProperties: { type: 'number' } }, { cpu: 1, memory: 1e-10 }, 'cpu=1,memory=1e-10'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, { 'a=b': 1 }, undefined],
  [{ type: 'object', additionalProperties: { type: 'number' } }, [1], undefined],
  [{ enum: ['a'] }, 'a', 'a'],
  [{ anyOf: [{ type: 'string' }, { enum: [0] }] }, 0, '0'],
  [{ enum: ['a'] }, null, undefined],
])('for %j the value %j is the text %j', (shape, value, text) => {
  expect(textOfValue(value, shape)).toBe(text);
});

test('a shape is said in words', () => {
  expect([shapeInWords({ type: 'integer' }), shapeInWords({ enum: ['a', 'b'] })]).toEqual(['a whole number', 'one of "a", "b"']);
});
