/** Goal: a manager finds for itself what is not as promised, and nothing of what is only on its way. */
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import {
  CLUSTERS_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  JOB_NAME_LABEL,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
} from '../../shared/api/names.ts';
import { EVENTS, JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { BROKEN_PROMISE } from '../../shared/runtime/invariant-watch.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let registry: Registry;
let logged: string[];
afterEach(() => world.close());

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
const refused: TransportResponse = {
  status: 403,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, reason: 'Forbidden', message: 'by the test' }),
};
/** Clusters have been in sight for long enough to be judged. */
async function aSettledWorld(): Promise<void> {
  registry = new Registry();
  logged = [];
  const log = {
    ...silentLogger,
    error: (message: string, fields: object = {}) => void (message === BROKEN_PROMISE && logged.push(JSON.stringify(fields))),
    with: () => log,
  };
  world = await createDispatchWorld({ registry, log });
  await world.settle(250_000);
}
async function violations(): Promise<Record<string, number>> {
  const { values = [] } = (await registry.getSingleMetric('switchyard_invariant_violations')?.get()) ?? {};
  return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [String(labels['invariant']), value]));
}
const eventsOf = async (name: string, namespace = NAMESPACE): Promise<string[]> =>
  (await world.home.list(EVENTS, { namespace })).items
    .filter(({ reason, involvedObject }) => reason === 'InvariantViolated' && involvedObject.name === name)
    .map(({ message }) => message ?? '');

/** What was kept of a violation for a bug report. */
function dumpsOf(invariant: string): unknown[] {
  return logged.map((line) => JSON.parse(line) as { invariant: string }).filter((dump) => dump.invariant === invariant);
}

/** Somebody has put a copy there that runs, and lets nobody take it away. */
async function forgeCopy(cluster: string, name: string, originUid: string): Promise<void> {
  const { client, line, start } = world.worker(cluster);
  line.instead = ({ method, path }) => (method !== 'GET' && path.includes('/jobs/') ? refused : undefined);
  const made = await client.create(JOBS, {
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { [ORIGIN_LABEL]: 'm1' },
      annotations: { [ORIGIN_UID_ANNOTATION]: originUid, [DISPATCH_EPOCH_ANNOTATION]: '1' },
    },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  } as never);
  await start(made.metadata.name);
}

test('a Job that runs on two clusters is told of once, by a metric, in the log and by an Event', async () => {
  await aSettledWorld();
  for (const name of ['a', 'b']) await world.submit(name, on('eu-1'));
  await world.settle(1_000);
  for (const name of ['a', 'b']) await world.worker('eu-1').start(name);
  await world.worker('us-2').client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await forgeCopy('us-2', 'a', (await world.job('a')).metadata.uid);
  await world.settle(55_000);
  expect(await violations()).toEqual({});
  await world.settle(20_000);
  expect(await violations()).toEqual({ one_copy_runs: 1 });
  expect(await eventsOf('a')).toEqual([expect.stringMatching(/^one_copy_runs: it runs twice: on eu-1 .* and on us-2/)]);
  await world.settle(300_000);
  expect(dumpsOf('one_copy_runs')).toEqual([
    expect.objectContaining({
      subject: `${NAMESPACE}/a`,
      seen: expect.objectContaining({ job: expect.objectContaining({ place: 'eu-1' }), copies: [expect.anything(), expect.anything()] }),
    }),
  ]);
  // The other copy goes at last.
  world.worker('us-2').line.instead = undefined;
  await world.settle(120_000);
  expect(await violations()).toEqual({});
});

test('more pods than are charged for are told of', async () => {
  await aSettledWorld();
  await world.submit('a', on('eu-1'));
  await world.settle(1_000);
  await world.worker('eu-1').report('a', { active: 3, ready: 0, startTime: '2026-01-01T00:00:00Z' } as Job['status'] & object);
  await world.settle(130_000);
  expect(await violations()).toEqual({ quota_covers_pods: 1 });
  expect((await eventsOf('a'))[0]).toContain('is 2 cpu and 2 pods more than is charged for it');
  expect(dumpsOf('quota_covers_pods')).toMatchObject([
    { seen: { job: { account: { held: { cpu: expect.anything() } } }, copies: [{ active: 3 }] } },
  ]);
});

test('a copy whose Job is gone, and that cannot be deleted, is told of on its WorkerCluster', async () => {
  await aSettledWorld();
  await world.submit('a', on('eu-1'));
  await world.settle(1_000);
  await world.worker('eu-1').start('a');
  await forgeCopy('eu-1', 'gone', 'uid-of-nobody');
  await world.settle(620_000);
  expect(await violations()).toEqual({ no_orphans: 1 });
  const { metadata } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  expect((await eventsOf(metadata.name, 'default'))[0]).toContain(`Job ${NAMESPACE}/gone: no_orphans: a copy is left on eu-1`);
  expect(dumpsOf('no_orphans')).toMatchObject([
    { subject: `${NAMESPACE}/gone`, seen: { copies: [{ cluster: 'eu-1', originUid: 'uid-of-nobody' }] } },
  ]);
});

test('a copy that somebody changes, and that nobody can put right, is told of', async () => {
  await aSettledWorld();
  await world.submit('a', { ...on('eu-1'), spec: { parallelism: 1 } });
  await world.settle(1_000);
  const { client, line, start } = world.worker('eu-1');
  await start('a');
  line.instead = ({ method, path }) => (method !== 'GET' && path.includes('/jobs/') ? refused : undefined);
  await client.patch(JOBS, { namespace: NAMESPACE, name: 'a' }, { type: 'merge', body: { spec: { parallelism: 4 } } });
  await world.settle(320_000);
  expect(await violations()).toEqual({ record_and_copy_agree: 1 });
  expect(dumpsOf('record_and_copy_agree')).toMatchObject([{ seen: { job: { record: { epoch: 1 } }, copies: [{ podsAtOnce: 4 }] } }]);
});

test('whatever is on its way is none: Jobs that come, run, move, end and are deleted, lost answers, a cluster that is cut off, managers that die', async () => {
  await aSettledWorld();
  for (let index = 0; index < 12; index++) await world.submit(`job-${index}`, on(index % 2 === 0 ? 'eu-1' : 'us-2'));
  const us = world.worker('us-2');
  let lost = 0;
  us.line.instead = ({ method }) => (method === 'POST' && lost++ % 2 === 0 ? Promise.reject(new Error('the answer was lost')) : undefined);
  await world.settle(30_000);
  us.line.instead = undefined;
  await world.settle(30_000);
  for (let index = 0; index < 12; index++) await world.worker(index % 2 === 0 ? 'eu-1' : 'us-2').start(`job-${index}`);
  await world.settle(10_000);
  await world.worker('eu-1').complete('job-0');
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'job-2' }, { propagationPolicy: 'Background' });
  us.line.state = 'refused';
  await world.settle(300_000);
  us.line.state = 'up';
  await world.settle(300_000);
  expect(await violations()).toEqual({});
  await world.stop();
  registry.clear();
  await world.start();
  await world.settle(900_000);
  expect(await violations()).toEqual({});
  expect(logged).toEqual([]);
  const { values = [] } = (await registry.getSingleMetric('switchyard_invariant_checks_total')?.get()) ?? {};
  expect(values).toHaveLength(5);
  expect(Math.min(...values.map(({ value }) => value))).toBeGreaterThan(10);
});

test('a Job whose copy is gone breaks no promise while pods of it remain there, as it says', async () => {
  await aSettledWorld();
  await world.submit('a', { annotations: { ...on('eu-1').annotations, [START_TIMEOUT_ANNOTATION]: '24h' } });
  await world.settle(1_000);
  const { client, start } = world.worker('eu-1');
  await start('a');
  const copy = await client.get(JOBS, { namespace: NAMESPACE, name: 'a' });
  await client.create(PODS, {
    metadata: { namespace: NAMESPACE, name: 'a-0', labels: { [JOB_NAME_LABEL]: 'a' } },
    spec: copy.spec.template.spec,
  } as never);
  await client.delete(JOBS, { namespace: NAMESPACE, name: 'a' }, { propagationPolicy: 'Orphan' });
  await world.settle(900_000);
  const said = findCondition((await world.job('a')).status?.conditions, 'Dispatched');
  expect(said).toMatchObject({ status: 'True', message: expect.stringContaining('pods of it are still there') });
  expect([await violations(), logged]).toEqual([{}, []]);
});

test('nothing is taken for broken while the manager cluster does not answer: what is to be written there cannot be', async () => {
  await aSettledWorld();
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  await world.worker('eu-1').start('sum');
  await world.settle(1_000);
  world.homeLine.state = 'swallowed';
  await world.worker('eu-1').client.delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Background' });
  await world.settle(750_000);
  expect(logged).toEqual([]);
  expect(await violations()).toEqual({});
});
