import { expect, test } from 'vitest';
import { admittedPart } from '../../../../../manager/work-kind/job/admitted-part.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const job = aHomeJob({ spec: { parallelism: 8, completions: 100 } });

test('a Job that was admitted with fewer pods has a lower parallelism, and is left alone itself', () => {
  expect(admittedPart(job, { parallelism: 5 }).spec).toEqual({ ...job.spec, parallelism: 5 });
  expect(job.spec.parallelism).toBe(8);
});

test('one that was admitted as it is, or asks for less since, stays as it is', () => {
  for (const record of [{}, { parallelism: 8 }, { parallelism: 9 }]) expect(admittedPart(job, record)).toBe(job);
});
