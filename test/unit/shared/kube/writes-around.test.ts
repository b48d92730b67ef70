import { expect, test } from 'vitest';
import { PODS } from '../../../../shared/api/resources.ts';
import type { StatusClient, WriteClient } from '../../../../shared/kube/client.ts';
import { writesAround } from '../../../../shared/kube/writes-around.ts';

const METHODS = ['create', 'replace', 'patch', 'delete', 'replaceStatus', 'patchStatus'] as const;
const KEY = { namespace: 'team', name: 'sum' };

test('each write is made by its own call, with the options that it gets on the way', async () => {
  const made: unknown[] = [];
  const client = Object.fromEntries(
    METHODS.map((method) => [method, async (...args: unknown[]) => void made.push([method, ...args.slice(1)])]),
  ) as unknown as WriteClient & StatusClient;
  const { signal } = new AbortController();
  const around = writesAround(client, (options, call) => call({ ...(options as NonNullable<typeof options>), signal }));
  const pod = { metadata: KEY } as never;
  const patch = { type: 'merge', body: {} } as const;
  await around.create(PODS, pod, { dryRun: true });
  await around.replace(PODS, pod);
  await around.patch(PODS, KEY, patch);
  await around.delete(PODS, KEY, { uid: 'u' });
  await around.replaceStatus(PODS, pod);
  await around.patchStatus(PODS, KEY, patch);
  expect(made).toEqual([
    ['create', pod, { dryRun: true, signal }],
    ['replace', pod, { signal }],
    ['patch', KEY, patch, { signal }],
    ['delete', KEY, { uid: 'u', signal }],
    ['replaceStatus', pod, { signal }],
    ['patchStatus', KEY, patch, { signal }],
  ]);
});
