import { expect, test } from 'vitest';
import { followObjects } from '../../../../manager/cli/follow-objects.ts';
import { CONFIG_MAPS } from '../../../../shared/api/resources.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';

const NAMESPACE = 'default';

test('what was seen before, and has gone before a watch was open, is told as gone', async () => {
  const { client, plane } = await startCluster(systemClock, []);
  const make = (name: string) => client.create(CONFIG_MAPS, { metadata: { name, namespace: NAMESPACE } });
  const seen = [await make('stays'), await make('goes')];
  await client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: 'goes' });
  const enough = new AbortController();
  const told: string[] = [];
  await followObjects(
    client,
    { resource: CONFIG_MAPS, namespace: NAMESPACE, seen },
    async ({ metadata: { name } }, isGone) => {
      told.push(`${name} ${isGone ? 'is gone' : 'is there'}`);
      if (isGone) enough.abort();
    },
    enough.signal,
  );
  expect(told.filter((line) => !line.startsWith('kube-root-ca'))).toEqual(['stays is there', 'goes is gone']);
  await plane.close();
});

test('who stops before all is listed hears of nothing more, and nothing is thrown', async () => {
  const { client, plane } = await startCluster(systemClock, []);
  const stopped = AbortSignal.abort();
  await followObjects(client, { resource: CONFIG_MAPS, seen: [] }, () => Promise.reject(new Error('told')), stopped);
  await plane.close();
});
