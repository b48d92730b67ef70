import { describe, expect, test } from 'vitest';
import {
  formatSharedSubmissions,
  parseSharedSubmissions,
  REFUSALS_MAX,
  type RefusedSubmission,
  type SharedSubmissions,
} from '../../../../manager/api/shared-submissions.ts';

const refusal = (id: string): RefusedSubmission => ({ id, atMs: 1, reason: 'Invalid', message: 'no' });
const TOLD: SharedSubmissions = {
  prefix: 'bull',
  queue: 'jobs',
  backlog: 3,
  oldestMs: 5,
  parked: 2,
  accepted: 9,
  refused: 1,
  redis: { reason: 'Full', message: 'its memory is full', works: false, sinceMs: 4, untilMs: 6 },
  refusals: [refusal('a')],
};

describe('what is told of the shared queue', () => {
  test('comes back as it was written, with the latest refusals', () => {
    expect(parseSharedSubmissions(formatSharedSubmissions(TOLD))).toEqual(TOLD);
    const many = Array.from({ length: REFUSALS_MAX + 9 }, (_, number) => refusal(String(number)));
    const kept = parseSharedSubmissions(formatSharedSubmissions({ ...TOLD, refusals: many }))?.refusals;
    expect(kept?.map(({ id }) => id)).toEqual(many.slice(0, REFUSALS_MAX).map(({ id }) => id));
  });

  test('is nothing where somebody has written something else, and without what is malformed of it', () => {
    for (const data of [undefined, {}, { figures: 'x' }, { figures: '[]' }, { figures: '{"prefix":"bull","queue":"jobs","parked":"2"}' }])
      expect(parseSharedSubmissions(data)).toBeUndefined();
    const { figures = '' } = formatSharedSubmissions({ ...TOLD, redis: { ...TOLD.redis, reason: 7 } as never });
    const refusals = JSON.stringify([7, { id: 'b' }, refusal('c')]);
    expect(parseSharedSubmissions({ figures, refusals })).toEqual({ ...TOLD, redis: undefined, refusals: [refusal('c')] });
    expect(parseSharedSubmissions({ figures, refusals: '{}' })?.refusals).toEqual([]);
  });
});
