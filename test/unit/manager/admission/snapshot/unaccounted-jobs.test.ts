import { expect, test } from 'vitest';
import { createUnaccountedJobs } from '../../../../../manager/admission/snapshot/unaccounted-jobs.ts';

const job = (name: string, unaccounted: boolean, namespace = 'team') => ({ key: `${namespace}/${name}`, namespace, unaccounted });

test('nobody of a namespace is admitted while what one of its Jobs runs is not known', () => {
  const jobs = createUnaccountedJobs();
  expect(jobs.observe(job('fine', false))).toBe(false);
  expect(jobs.reasonIn('team')).toBeUndefined();
  expect(jobs.observe(job('a', true))).toBe(true);
  expect(jobs.observe(job('a', true))).toBe(false);
  expect(jobs.reasonIn('team')).toMatchObject({ reason: 'NamespaceUnaccounted', message: expect.stringContaining('team/a was') });
  expect(jobs.reasonIn('other')).toBeUndefined();
  expect(jobs.observe(job('b', true))).toBe(false);
  expect(jobs.reasonIn('team')?.message).toContain('team/a (and 1 more)');
});

test('they are again once it is proven at rest, or gone, and the same is known of all others', () => {
  const jobs = createUnaccountedJobs();
  for (const name of ['a', 'b']) jobs.observe(job(name, true));
  expect(jobs.observe(job('a', false))).toBe(false);
  expect(jobs.forget('team/b', 'team')).toBe(true);
  expect(jobs.reasonIn('team')).toBeUndefined();
  expect(jobs.forget('team/b', 'team')).toBe(false);
});
