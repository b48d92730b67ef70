/** Goal: what a leading manager tells at a scrape answers how queues and clusters stand now, and forgets those that are gone. */
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { workerRegistry } from '../../scripts/metrics/registries.ts';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';

let world: DispatchWorld;
let registry: Registry;
beforeEach(async () => {
  registry = new Registry();
  world = await createDispatchWorld({ workers: ['eu-1'], registry });
});
afterEach(() => world.close());

async function value(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> {
  const all = await registry.getMetricsAsJSON();
  const values = all.flatMap((metric) => metric.values.map((each) => ({ name: metric.name, ...each })));
  const isOf = (each: { labels: object }): boolean =>
    Object.entries(labels).every(([label, text]) => Reflect.get(each.labels, label) === text);
  return values.find((each) => ('metricName' in each ? each.metricName : each.name) === name && isOf(each))?.value;
}

test('a cluster and its Jobs, a queue and its LocalQueue are told of', async () => {
  const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
  await world.submit('runs', on('eu-1'));
  await world.settle(1_000);
  await world.worker('eu-1').start('runs');
  await world.submit('waits', on('nowhere'));
  await world.settle(20_000);
  const queue = { cluster_queue: 'main' };
  const local = { namespace: 'team', local_queue: 'main' };
  expect(await value('switchyard_cluster_condition', { cluster: 'eu-1', condition: 'Ready' })).toBe(1);
  expect(await value('switchyard_cluster_last_watch_event_seconds', { cluster: 'eu-1' })).toBeGreaterThan(1_700_000_000);
  expect(await value('switchyard_pending_workloads_by_reason', { ...queue, reason: 'NoClusterFits' })).toBe(1);
  expect(await value('switchyard_admission_head_waiting_seconds', queue)).toBeGreaterThanOrEqual(19);
  expect(await value('switchyard_local_queue_pending_workloads', local)).toBe(1);
  expect(await value('switchyard_local_queue_admitted_active_workloads', local)).toBe(1);
  expect(await value('switchyard_status_lag_seconds_count', { cluster: 'eu-1' })).toBeGreaterThan(0);
  await world.worker('eu-1').complete('runs');
  await world.settle(2_000);
  expect(await value('switchyard_workload_run_seconds_count', { ...queue, outcome: 'Complete' })).toBeGreaterThan(0);
  expect(await value('switchyard_local_queue_admitted_active_workloads', local)).toBe(0);
});

/** Counters by name, each with the values of its series. */
const countersOf = async (from: Registry): Promise<Map<string, readonly number[]>> =>
  new Map(
    await Promise.all(
      from.getMetricsAsArray().flatMap(({ name }) => {
        const metric = from.getSingleMetric(name);
        if (!(metric instanceof Counter)) return [];
        return [metric.get().then(({ values }) => [name, values.map(({ value: count }) => count)] as const)];
      }),
    ),
  );

/** Of which nobody knows what will come, or of which there would be a series for each pair of a queue and a cluster. */
const FROM_THE_FIRST_ON = [
  'switchyard_admitted_workloads_total',
  'switchyard_dispatched_workloads_total',
  'switchyard_preempted_workloads_total',
  // For ClusterQueues with the strategy Backfill.
  'switchyard_backfilled_workloads_total',
  // By what is served, and only where it is.
  'switchyard_api_requests_total',
  // Where there is a queue of submissions its reporter begins it.
  'switchyard_submission_queue_submissions_total',
  // Where there is a canary it begins it.
  'switchyard_canary_runs_total',
];
/** They count what every start does. */
const NOT_ZERO = [
  'workqueue_adds_total',
  'workqueue_retries_total',
  'switchyard_admission_attempts_total',
  'switchyard_invariant_checks_total',
];

test('every counter of a manager that has just started is there, and is 0', async () => {
  const counters = await countersOf(registry);
  expect(counters.size).toBeGreaterThan(25);
  const absent = [...counters].flatMap(([name, values]) => (values.length === 0 ? [name] : []));
  expect(absent.toSorted()).toEqual(FROM_THE_FIRST_ON.toSorted());
  const counted = [...counters].flatMap(([name, values]) => (values.some((count) => count !== 0) ? [name] : []));
  expect(counted.filter((name) => !NOT_ZERO.includes(name))).toEqual([]);
});

// Vectors of kube-controller-manager have no series until first use, and its clients' likewise; what the fence counts is by origins, which
// come with their copies.
test('every counter of a worker that has just started is there, and is 0, where it is not upstream’s', async () => {
  const counters = await countersOf(workerRegistry());
  const own = [...counters].filter(([name]) => name.startsWith('switchyard_') && name !== 'switchyard_worker_fence_trips_total');
  expect(own.length).toBeGreaterThan(2);
  expect(own.filter(([, values]) => values.length === 0 || values.some((count) => count !== 0))).toEqual([]);
});

test('the queues of the manager and of each cluster and their watches are told of, and nothing is of a cluster that was deleted', async () => {
  await world.submit('sum');
  await world.settle(1_000);
  await world.worker('eu-1').start('sum');
  await world.settle(1_000);
  await world.worker('eu-1').complete('sum');
  await world.settle(2_000);
  const lines = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
  const queues = (await lines()).flatMap(
    (line) => /^workqueue_adds_total\{name="([^"]+)",cluster="([^"]+)"\} \d+$/.exec(line)?.slice(1).join(' ') ?? [],
  );
  expect(queues.toSorted()).toEqual([
    'copies eu-1',
    'mirror home',
    'noted-jobs home',
    'object-inquiries eu-1',
    'start-inquiries eu-1',
    'waiting-jobs home',
    'worker-clusters home',
    'worker-tokens home',
  ]);
  expect(await value('workqueue_work_duration_seconds_count', { name: 'copies', cluster: 'eu-1' })).toBeGreaterThan(0);
  expect(await value('switchyard_watch_restarts_total', { cluster: 'eu-1', resource: 'jobs' })).toBe(0);
  expect(await value('switchyard_watch_restarts_total', { cluster: 'home', resource: 'clusterqueues' })).toBe(0);
  await world.settle(500_000);
  expect(await value('switchyard_watch_restarts_total', { cluster: 'eu-1', resource: 'jobs' })).toBeGreaterThan(0);
  await world.home.delete(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  await world.settle(600_000);
  expect((await lines()).filter((line) => line.includes('"eu-1"'))).toEqual([]);
});

test('a change that is heard of while an earlier one is written home has its lag told, too', async () => {
  await world.submit('sum');
  await world.settle(1_000);
  await world.worker('eu-1').start('sum');
  await world.settle(2_000);
  const told = async (): Promise<number> => (await value('switchyard_status_lag_seconds_count', { cluster: 'eu-1' })) ?? 0;
  const before = await told();
  const job = await world.job('sum');
  const held = Promise.withResolvers<undefined>();
  let holds = false;
  world.homeLine.instead = ({ method, path }) => {
    if (holds || method !== 'PATCH' || !path.includes('/jobs/sum/status')) return undefined;
    holds = true;
    return held.promise;
  };
  const { startTime = '' } = job.status ?? {};
  await world.worker('eu-1').report('sum', { active: 1, ready: 1, startTime });
  await world.settle(2_000);
  expect(holds).toBe(true);
  await world.worker('eu-1').report('sum', { active: 1, ready: 0, startTime });
  await world.settle(2_000);
  held.resolve(undefined);
  await world.settle(5_000);
  expect((await world.job('sum')).status?.ready).toBe(0);
  expect((await told()) - before).toBe(2);
});
