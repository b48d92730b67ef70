/** A worker that is bound to two namespaces, of which the API server closes one to it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, refusal, SUCCEEDED, type World } from './worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const conditions = async (): Promise<string[]> =>
  ((await world.status()).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const BOUND = ['ns', 'other'];
const closed = (namespace: string, resource: string): void => {
  world.fault = ({ path, method }) =>
    method === 'GET' && path.includes(`/namespaces/${namespace}/${resource}?`)
      ? refusal(403, 'Forbidden', `${resource} is forbidden in namespace ${namespace}`)
      : undefined;
};
const unreadable = (): Promise<number> => world.metric('switchyard_worker_unreadable_namespaces');
const said = (): string[] =>
  world.warnings.flatMap(({ level, message, fields }) =>
    /--namespace may /.test(message) ? [`${level} ${String(fields?.['namespace'])}`] : [],
  );

test('creates no pod where it reads the Jobs and not the pods, and none twice once it reads these', async () => {
  await world.createJob({ completions: 2, parallelism: 2 });
  await world.pass();
  const names = async (): Promise<string[]> => (await world.pods()).map(({ metadata }) => metadata.name);
  const before = await names();
  closed('ns', 'pods');
  await world.restart({ namespaces: BOUND });
  await world.patchJob({ metadata: { annotations: { touched: 'yes' } } });
  world.calls.length = 0;
  await world.pass(10);
  expect(world.calls).toEqual([]);
  expect([await names(), await unreadable(), said()]).toEqual([before, 1, ['warn ns']]);
  world.fault = undefined;
  await world.pass(60);
  for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
  await world.pass();
  expect(await conditions()).toContain('Complete=True CompletionsReached');
  expect([await names(), await unreadable(), said()]).toEqual([before, 0, ['warn ns', 'info ns']]);
});

test('goes on with what it knows of one that is closed while it runs, says so once, and catches up when it is open again', async () => {
  await world.restart({ namespaces: BOUND });
  await world.createJob();
  await world.pass();
  closed('ns', 'jobs');
  world.expireWatches();
  await world.pass(120);
  expect([await unreadable(), said()]).toEqual([1, ['warn ns']]);
  const [pod] = await world.pods();
  await world.setPod(pod!, SUCCEEDED);
  await world.createJob({}, 'unseen');
  await world.pass();
  expect(await conditions()).toContain('Complete=True CompletionsReached');
  expect(await world.pods()).toHaveLength(1);
  world.fault = undefined;
  await world.pass(60);
  expect((await world.pods()).filter(({ metadata }) => metadata.labels?.['job-name'] === 'unseen')).toHaveLength(1);
  expect([await unreadable(), said()]).toEqual([0, ['warn ns', 'info ns']]);
});
