/** Goal: the log of a pod that runs reaches a tenant's terminal by the manager, over HTTP, without a kubeconfig of the worker cluster. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followByManager } from '../../manager/cli/logs/managers-pods.ts';
import { createManagerHttp } from '../../manager/cli/server/manager-http.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { createDashboardWorld, START_LIMIT_MS, type DashboardWorld } from './dashboard-world.ts';

let dashboard: DashboardWorld;
beforeAll(async () => {
  dashboard = await createDashboardWorld();
}, START_LIMIT_MS);
afterAll(() => dashboard.close());

/** The only pod of a new Job of namespace vision, once it runs. */
async function running(name: string): Promise<string> {
  const { world } = dashboard;
  await dashboard.submit('vision', name, { seconds: 36_000 });
  for (;;) {
    await world.clock.advance(1_000);
    for (const cluster of ['frankfurt', 'oregon', 'tokyo']) {
      const pods = await world.podsOn(cluster);
      const pod = pods.find(({ metadata, status }) => metadata.name.startsWith(name) && status?.phase === 'Running');
      if (pod !== undefined) return pod.metadata.name;
    }
  }
}

function follow(name: string, token: string) {
  const heard = { text: '', said: '', troubles: [] as unknown[] };
  const open = async () =>
    createManagerHttp({
      server: dashboard.url,
      ca: undefined,
      tokenFile: undefined,
      credentials: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
    });
  const job = { metadata: { namespace: 'vision', name } } as unknown as Job;
  const pods = followByManager(open, job, {
    index: undefined,
    failed: false,
    sink: { write: async (text) => void (heard.text += text), say: async (line) => void (heard.said += line) },
    signal: new AbortController().signal,
    onTrouble: (error) => void heard.troubles.push(error),
  });
  return { heard, pods };
}

test('a tenant reads what a pod has written and goes on writing, to its end', { timeout: START_LIMIT_MS }, async () => {
  const pod = await running('trained');
  dashboard.book.write(pod, 'loading', 'epoch 1');
  const all = follow('trained', 'ann');
  await dashboard.until(() => all.heard.text.includes('epoch 1'));
  dashboard.book.write(pod, 'epoch 2');
  await dashboard.until(() => all.heard.text.includes('epoch 2'));
  await all.pods.end(0);
  expect(all.heard).toEqual({ text: 'loading\nepoch 1\nepoch 2\n', said: '', troubles: [] });
  expect(all.pods.count).toBe(1);
});

test('another tenant is told that they may not', { timeout: START_LIMIT_MS }, async () => {
  await running('secret');
  const { heard, pods } = follow('secret', 'bob');
  await dashboard.until(() => heard.troubles.length > 0);
  await pods.end(0);
  expect(heard.text).toBe('');
  expect(String(heard.troubles[0])).toMatch(/refused/);
});
