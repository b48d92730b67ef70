import { expect, test } from 'vitest';
import { timeMs } from '../../../../manager/cli/time-flag.ts';

test('a day is its beginning in UTC, and a time is that time', () => {
  expect(['2026-01-31', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00+02:00'].map(timeMs)).toEqual(
    [0, 12, 10].map((hours) => Date.UTC(2026, 0, 31, hours)),
  );
  for (const wrong of ['', 'yesterday', '2026-13-01']) expect(() => timeMs(wrong)).toThrow('is no time; write 2026-01-31');
});
