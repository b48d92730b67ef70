import { expect, test } from 'vitest';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';

test('what is undefined is left out, and nothing else is', () => {
  const fields = omitUndefined({ absent: undefined, none: null, empty: '', zero: 0, no: false, text: 'x' });
  expect(Object.entries(fields)).toEqual([
    ['none', null],
    ['empty', ''],
    ['zero', 0],
    ['no', false],
    ['text', 'x'],
  ]);
});

test('the argument stays as it is', () => {
  const fields = { a: undefined, b: 1 };
  omitUndefined(fields);
  expect(Object.keys(fields)).toEqual(['a', 'b']);
});
