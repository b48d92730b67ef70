import { describe, expect, test } from 'vitest';
import { parseCronSchedule } from '../../../../../shared/controlplane/kinds/cron-schedule.ts';

const values = (from: number, to: number, step = 1): number[] => {
  const found: number[] = [];
  for (let value = from; value <= to; value += step) found.push(value);
  return found;
};
const fieldsOf = (text: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parseCronSchedule(text)).map(([name, value]) => [
      name,
      value instanceof Set ? [...(value as Set<number>)].sort((a, b) => a - b) : value,
    ]),
  );

describe('the fields of a schedule', () => {
  test('are lists of numbers, ranges, steps and names, in any case', () => {
    expect(fieldsOf('5,10-12,*/20 0-23/6 1,15 JAN,mar-May Mon-FRI')).toEqual({
      kind: 'fields',
      minutes: [0, 5, 10, 11, 12, 20, 40],
      hours: [0, 6, 12, 18],
      daysOfMonth: [1, 15],
      months: [1, 3, 4, 5],
      daysOfWeek: [1, 2, 3, 4, 5],
      daysMustAgree: false,
    });
  });
  test('begin somewhere and go on to the end, where a step follows a single number', () => {
    expect(fieldsOf('7/15 20/2 * * *')).toMatchObject({ minutes: values(7, 59, 15), hours: [20, 22] });
  });
  test('may say ? for *, and pass over empty elements of a list', () => {
    expect(fieldsOf('? 3,,4 ? * ?')).toMatchObject({
      minutes: values(0, 59),
      hours: [3, 4],
      daysOfMonth: values(1, 31),
      daysMustAgree: true,
    });
  });
  test('ask for both days where one of them is a star, which a star with a step is not', () => {
    expect(fieldsOf('0 0 * * 1')).toMatchObject({ daysMustAgree: true });
    expect(fieldsOf('0 0 1 * */1')).toMatchObject({ daysMustAgree: true });
    expect(fieldsOf('0 0 */2 * 1')).toMatchObject({ daysMustAgree: false });
  });
});

test.each([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])('%s is short for %s', (short, long) => {
  expect(parseCronSchedule(short)).toEqual(parseCronSchedule(long));
});

test.each([
  ['@every 90m', 5_400_000],
  ['@every 1h30m10.9s', 5_410_000],
  ['@every 10ms', 1000],
  ['@every -5m', 1000],
  ['@every 0', 1000],
])('%s comes every %d ms: whole seconds, and at least one', (text, periodMs) => {
  expect(parseCronSchedule(text)).toEqual({ kind: 'every', periodMs });
});

test.each([
  ['', 'empty spec string'],
  ['   ', 'expected exactly 5 fields, found 0: []'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['0 * * * * *', 'expected exactly 5 fields, found 6: [0 * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['30-10 * * * *', 'beginning of range (30) beyond end of range (10): 30-10'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['-5 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  [
    '99999999999999999999 * * * *',
    'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  ['* * * mon *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
  ['@fortnightly', 'unrecognized descriptor: @fortnightly'],
  ['@every day', 'failed to parse duration @every day: time: invalid duration "day"'],
  ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ['@every 1d', 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'],
  ['@every ', 'failed to parse duration @every : time: invalid duration ""'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseCronSchedule(text)).toThrow(new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`));
});
