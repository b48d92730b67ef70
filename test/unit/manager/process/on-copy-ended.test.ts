import { expect, test } from 'vitest';
import { onCopyEnded } from '../../../../manager/process/on-copy-ended.ts';
import { aHomeJob } from '../../../support/jobs.ts';

test('all hear of a copy that is about to go, and the ends of its logs are read once', async () => {
  let reads = 0;
  const heard: string[] = [];
  const listener = (name: string) => ({
    keep: async ({ tails }: { tails: () => Promise<unknown> }) => {
      await tails();
      heard.push(name);
    },
  });
  const both = onCopyEnded([listener('history'), undefined, listener('submissions')]);
  const tails = async (): Promise<undefined> => void reads++;
  await both?.keep({ job: { namespace: 'team', name: 'sum' }, originUid: 'u', cluster: 'east', epoch: 1, copy: aHomeJob(), tails });
  expect([heard, reads]).toEqual([['history', 'submissions'], 1]);
  expect(onCopyEnded([undefined])).toBeUndefined();
});
