import { expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { guardStaleReads } from '../../../../shared/kube/stale-read-guard.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KEY = { namespace: 'ns', name: 'job' };
const PATCH = { type: 'merge', body: { metadata: { resourceVersion: '7' } } } as const;

function situation(answer: { readonly code: number; readonly reason: string } = { code: 409, reason: 'Conflict' }) {
  const clock = new FakeClock();
  const doubts: string[] = [];
  const cache = new Map([['job', '7']]);
  const refuse = () => Promise.reject(new ApiError(answer.code, { kind: 'Status', ...answer, message: 'the object has been modified' }));
  const client = guardStaleReads({ patch: refuse, patchStatus: refuse } as unknown as KubeClient, {
    clock,
    cached: (_resource, { name }) => cache.get(name),
    onDoubt: ({ plural }, { namespace, name }, version) => doubts.push(`${plural} ${namespace}/${name} ${version}`),
  });
  const write = async (key = KEY): Promise<void> => expect(client.patchStatus(JOBS, key, PATCH)).rejects.toBeInstanceOf(ApiError);
  return { clock, doubts, cache, write, client };
}

test('a cache is doubted that shows the version of a conflict still when a watch should have brought another long ago', async () => {
  const { clock, doubts, write } = situation();
  await write();
  await clock.advance(5_000);
  await write();
  await clock.advance(9_999);
  expect(doubts).toEqual([]);
  await clock.advance(1);
  expect(doubts).toEqual(['jobs ns/job 7']);
  await clock.advance(60_000);
  expect(doubts).toHaveLength(1);
});

test('a patch of the object itself counts as one of its status does', async () => {
  const { clock, doubts, client } = situation();
  await expect(client.patch(JOBS, KEY, PATCH)).rejects.toBeInstanceOf(ApiError);
  await clock.advance(15_000);
  expect(doubts).toHaveLength(1);
});

test('it is not doubted when it shows another version by then, or none, or never had the object', async () => {
  const { clock, doubts, cache, write } = situation();
  await write();
  cache.set('job', '8');
  await clock.advance(15_000);
  await write();
  cache.delete('job');
  await clock.advance(15_000);
  await write();
  await clock.advance(15_000);
  expect(doubts).toEqual([]);
});

test('other refusals say nothing about the cache', async () => {
  const { clock, doubts, write } = situation({ code: 403, reason: 'Forbidden' });
  await write();
  await clock.advance(15_000);
  expect(doubts).toEqual([]);
});
