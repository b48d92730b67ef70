import { expect, test } from 'vitest';
import { actInWords, actsOn, withAct } from '../../../../manager/api/job-acts.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const bearing = (text: string): Job => aHomeJob({ metadata: { annotations: { [ACTS_ANNOTATION]: text } } });

test('acts are told in their order, and the latest eight are kept', () => {
  let job = aHomeJob();
  for (let number = 0; number < 10; number++)
    job = bearing(withAct(job, { what: 'Hold', user: `user-${number}` }, NOW_MS + number * 1_000));
  expect(actsOn(job).map(({ user }) => user)).toEqual(Array.from({ length: 8 }, (_, number) => `user-${number + 2}`));
  expect(actInWords(actsOn(job)[7]!)).toBe('held by user-9 at 2026-01-01T00:00:09Z');
});

test('names are one line of bounded length, and what is no list of acts says nothing', () => {
  const [act] = actsOn(bearing(withAct(aHomeJob(), { what: 'Cancel', user: `ann\n\u202ebob${'x'.repeat(1_000)}` }, NOW_MS)));
  expect(act?.user).toMatch(/^ann bobx+…$/);
  expect(act?.user.length).toBeLessThanOrEqual(256);
  for (const text of ['', '{}', '[1]', '[{"what":"Obey","user":"ann","at":"x"}]', '[{"what":"Hold","user":7,"at":"x"}]', 'no JSON'])
    expect(actsOn(bearing(text)), text).toEqual([]);
});

test('who passed by the rules is told among the acts', () => {
  expect(actsOn(bearing(withAct({ metadata: {} }, { what: 'Override', user: 'ann' }, NOW_MS))).map(actInWords)).toEqual([
    'overridden by ann at 2026-01-01T00:00:00Z',
  ]);
});
