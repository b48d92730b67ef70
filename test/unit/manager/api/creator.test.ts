import { expect, test } from 'vitest';
import { creatorOf, submitterOf, userOf } from '../../../../manager/api/creator.ts';
import { CREATED_BY_ANNOTATION, SUBMITTED_BY_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const by = (name: string) => creatorOf(aHomeJob({ metadata: { annotations: { [CREATED_BY_ANNOTATION]: name } } }));

test('who created a Job is told where it was noted, in one line of bounded length', () => {
  expect(by('oidc:ann@example.com')).toBe('oidc:ann@example.com');
  expect(by('ann\n\u202ebob')).toBe('ann bob');
  expect(by('a'.repeat(1_000))).toHaveLength(256);
  expect(by('')).toBeUndefined();
  expect(creatorOf(aHomeJob())).toBeUndefined();
});

test('a Job that was submitted over HTTP is of the user who did, and was created by the account of its queue', () => {
  const account = 'system:serviceaccount:team:creator';
  const job = aHomeJob({ metadata: { annotations: { [CREATED_BY_ANNOTATION]: account, [SUBMITTED_BY_ANNOTATION]: 'ann\nbob' } } });
  expect([creatorOf(job), submitterOf(job), userOf(job)]).toEqual([account, 'ann bob', 'ann bob']);
  const other = aHomeJob({ metadata: { annotations: { [CREATED_BY_ANNOTATION]: account } } });
  expect([submitterOf(other), userOf(other)]).toEqual([undefined, account]);
});
