import { expect, test } from 'vitest';
import { eachJob } from '../../../../../manager/cli/jobs/each-job.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `job-${index}`);

test('a refusal of one Job leaves the others alone, and all results are known', async () => {
  const shown: string[] = [];
  const results = await eachJob(
    names(20),
    async (job) => {
      if (job === 'job-3') throw new Error('forbidden');
    },
    { isFatal: () => false, onResult: async ({ job }) => void shown.push(job) },
  );
  expect(results.map(({ job }) => job).toSorted()).toEqual(names(20).toSorted());
  expect(results.filter(({ error }) => error !== undefined)).toEqual([{ job: 'job-3', error: new Error('forbidden') }]);
  expect(shown).toHaveLength(20);
});

test('where the API server cannot be reached no further Job is begun, and those that were are told', async () => {
  let begun = 0;
  const results = await eachJob(
    names(100),
    async () => {
      begun++;
      if (begun > 10) throw new Error('unreachable');
    },
    { isFatal: (error) => error instanceof Error, onResult: async () => undefined },
  );
  expect(results).toHaveLength(begun);
  expect(begun).toBeLessThan(100);
  expect(results.filter(({ error }) => error === undefined)).toHaveLength(10);
});

test('an error that is nothing is an error all the same', async () => {
  const [result] = await eachJob(['one'], () => Promise.reject(undefined), { isFatal: () => false, onResult: async () => undefined });
  expect(result?.error).toBeInstanceOf(Error);
});
