/** Ends of logs in a namespace of ours, on a cluster where copies come and go while a worker is there, and while none is. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workerLeaseName } from '../../../../shared/api/fence-leases.ts';
import type { ConfigMap, Job } from '../../../../shared/api/kubernetes.ts';
import { logTailsName } from '../../../../shared/api/log-tails.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  LOG_TAILS_JOB_NAMESPACE_LABEL,
  LOG_TAILS_LABEL,
  ORIGIN_LABEL,
} from '../../../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, NODES, PODS } from '../../../../shared/api/resources.ts';
import { createWorld, FAILED, refusal, type World } from '../worker-world.ts';

const PLACE = 'kube-system';
const OURS = workerLeaseName(BUILT_IN_JOB_CONTROLLER_NAME);
let world: World;

const begin = async (namespaces: readonly string[] = []): Promise<void> => {
  world = await createWorld({ namespaces }, undefined, { namespace: PLACE, keepLogs: 'Failed', tailBytes: 65_536 });
  world.fault = ({ path }) => (path.includes('/log?') ? { status: 200, headers: {}, body: 'it went wrong\n' } : undefined);
  await world.admin.create(NODES, { metadata: { name: 'node-1' } });
  await world.admin.create(NAMESPACES, { metadata: { name: 'other' } });
};
beforeEach(() => begin());
afterEach(() => world.stop());

/** A copy of which the end of a log is kept. */
async function failed(name: string): Promise<Job> {
  const job = await world.createJob({ backoffLimit: 6 }, name, { [ORIGIN_LABEL]: 'home' });
  await world.pass();
  const [pod] = (await world.pods()).filter(({ metadata }) => metadata.labels?.['job-name'] === name);
  const key = { namespace: 'ns', name: pod?.metadata.name ?? '' };
  const target = { kind: 'Node', name: 'node-1' };
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: key.name }, target };
  await world.admin.raw({ method: 'POST', path: `/api/v1/namespaces/ns/pods/${key.name}/binding`, body });
  const terminated = { exitCode: 1, reason: 'Error', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' };
  const container = { name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated } };
  await world.admin.patchStatus(PODS, key, { type: 'merge', body: { status: { ...FAILED, containerStatuses: [container] } } });
  await world.pass();
  return job;
}
const remove = (name: string): Promise<void> => world.admin.delete(JOBS, { namespace: 'ns', name }, { propagationPolicy: 'Background' });
const put = (copyUid: string, namespace: string, worker = OURS): Promise<ConfigMap> =>
  world.admin.create(CONFIG_MAPS, {
    metadata: {
      namespace: PLACE,
      name: logTailsName(copyUid),
      labels: { [LOG_TAILS_LABEL]: worker, [LOG_TAILS_JOB_NAMESPACE_LABEL]: namespace },
    },
    binaryData: { pod: 'AA==' },
  });
const kept = async (): Promise<string[]> =>
  (await world.admin.list(CONFIG_MAPS, { namespace: PLACE })).items
    .map(({ metadata }) => metadata.name.replace('switchyard-logs-', ''))
    .toSorted();

test('they go with their copy, and not before', async () => {
  const [a, b] = [await failed('a'), await failed('b')];
  expect(await kept()).toEqual([a.metadata.uid, b.metadata.uid].toSorted());
  await remove('a');
  await world.pass();
  expect(await kept()).toEqual([b.metadata.uid]);
  // A copy of which nothing is kept costs no call.
  await world.createJob({}, 'c', { [ORIGIN_LABEL]: 'home' });
  await world.pass();
  await remove('c');
  await world.pass();
  expect(world.calls.filter((call) => call.startsWith('DELETE') && call.includes('configmaps'))).toHaveLength(1);
});

test('those of a copy that went while no worker was there are removed by the next of its name, which knows of the others', async () => {
  const a = await failed('a');
  await put('gone', 'ns');
  await put('theirs', 'ns', workerLeaseName('example.com/other'));
  await world.restart();
  await world.pass();
  expect(await kept()).toEqual([a.metadata.uid, 'theirs'].toSorted());
  await remove('a');
  await world.pass();
  expect(await kept()).toEqual(['theirs']);
});

test('a deletion that is refused, or whose answer is lost, is tried again until they are gone', async () => {
  await failed('a');
  let refused = 2;
  world.fault = ({ method, path }) =>
    method === 'DELETE' && path.includes('/configmaps/') && refused-- > 0 ? refusal(500, 'InternalError', 'no') : undefined;
  await remove('a');
  await world.pass(10);
  expect([await kept(), refused]).toEqual([[], -1]);
});

test('what an earlier worker had sent, and arrives once the next has looked, is removed by a second look', async () => {
  await world.restart();
  await world.pass();
  await put('late', 'ns');
  await world.pass(60);
  expect(await kept()).toEqual(['late']);
  await world.pass(65);
  expect(await kept()).toEqual([]);
});

test('a write that is carried out when everybody has given it up leaves nothing of a copy that is gone', async () => {
  let sent: string | undefined;
  const { fault } = world;
  world.fault = async (request) => {
    if (request.method !== 'POST' || !request.path.includes('/configmaps')) return fault?.(request);
    sent = request.body;
    throw new Error('the connection was lost');
  };
  const { metadata } = await failed('a');
  await remove('a');
  await world.pass();
  const late = JSON.parse(sent ?? '{}') as ConfigMap;
  expect(late.metadata.name).toBe(logTailsName(metadata.uid));
  await world.admin.create(CONFIG_MAPS, late);
  await world.pass(125);
  expect(await kept()).toEqual([]);
});

test('of a namespace that the worker may not read, or does not look at, nothing is removed until it knows the Jobs there', async () => {
  await world.stop();
  await begin(['ns', 'other']);
  await put('in-ns', 'ns');
  await put('in-other', 'other');
  await put('elsewhere', 'elsewhere');
  world.fault = ({ method, path }) =>
    method === 'GET' && path.includes('/namespaces/other/jobs?')
      ? refusal(403, 'Forbidden', 'jobs is forbidden in namespace other')
      : undefined;
  await world.restart();
  await world.pass();
  expect(await kept()).toEqual(['elsewhere', 'in-other']);
  world.fault = undefined;
  await world.pass(60);
  expect(await kept()).toEqual(['elsewhere']);
});

test('while they cannot be looked for the worker works, and says so', async () => {
  await put('gone', 'ns');
  world.fault = ({ method, path }) => (method === 'GET' && path.includes('/configmaps?') ? refusal(500, 'InternalError', 'no') : undefined);
  await world.restart();
  await world.createJob({}, 'a');
  await world.pass();
  expect(await world.pods()).toHaveLength(1);
  expect(await kept()).toEqual(['gone']);
  expect(world.warnings.filter(({ message }) => message.startsWith('ends of logs that an earlier worker has kept'))).toHaveLength(1);
  world.fault = undefined;
  await world.pass(60);
  expect(await kept()).toEqual([]);
});
