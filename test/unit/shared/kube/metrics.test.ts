import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createClientMetrics } from '../../../../shared/kube/client-metrics.ts';
import { createWorkqueue } from '../../../../shared/kube/workqueue.ts';
import { createWorkqueueMetrics } from '../../../../shared/kube/workqueue-metrics.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const linesOf = async (registry: Registry, ...names: string[]): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => names.some((name) => line.startsWith(`${name}{`)));

test('a work queue counts what client-go counts', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const metrics = createWorkqueueMetrics(registry, clock);
  const queue = createWorkqueue({ name: 'job', clock, rateLimit: { baseDelayMs: 1000, maxDelayMs: 1000 }, metrics: metrics.of('job') });
  metrics.of('other');
  for (const key of ['a', 'b', 'c', 'a']) queue.add(key);
  await clock.advance(2000);
  await queue.get();
  await clock.advance(500);
  await queue.get();
  await clock.advance(500);
  queue.addRateLimited('d');
  expect(await linesOf(registry, 'workqueue_depth', 'workqueue_adds_total', 'workqueue_retries_total')).toEqual([
    'workqueue_depth{name="job"} 1',
    'workqueue_depth{name="other"} 0',
    'workqueue_adds_total{name="job"} 3',
    'workqueue_adds_total{name="other"} 0',
    'workqueue_retries_total{name="job"} 1',
    'workqueue_retries_total{name="other"} 0',
  ]);
  expect(await linesOf(registry, 'workqueue_unfinished_work_seconds', 'workqueue_longest_running_processor_seconds')).toEqual([
    'workqueue_unfinished_work_seconds{name="job"} 1.5',
    'workqueue_unfinished_work_seconds{name="other"} 0',
    'workqueue_longest_running_processor_seconds{name="job"} 1',
    'workqueue_longest_running_processor_seconds{name="other"} 0',
  ]);
  queue.done('a');
  queue.done('b');
  expect(await linesOf(registry, 'workqueue_work_duration_seconds_sum', 'workqueue_queue_duration_seconds_sum')).toEqual([
    'workqueue_queue_duration_seconds_sum{name="job"} 4.5',
    'workqueue_work_duration_seconds_sum{name="job"} 1.5',
  ]);
});

test('a client counts answers by code, method and host', async () => {
  const registry = new Registry();
  const metrics = createClientMetrics(registry);
  metrics('one:6443').answered('200', 'GET', 'LIST', 20);
  metrics('one:6443').answered('<error>', 'GET', 'GET', 20);
  metrics('two:6443').limited('POST', 1500);
  expect(await linesOf(registry, 'rest_client_requests_total', 'rest_client_rate_limiter_duration_seconds_sum')).toEqual([
    'rest_client_requests_total{code="200",method="GET",host="one:6443"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="one:6443"} 1',
    'rest_client_rate_limiter_duration_seconds_sum{verb="POST",host="two:6443"} 1.5',
  ]);
});

test('where there are several clusters, queues and clients say which; what is told of one that is gone goes, and of no other', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const metrics = createWorkqueueMetrics(registry, clock, 'home');
  const rateLimit = { baseDelayMs: 1000, maxDelayMs: 1000 };
  // A WorkerCluster may be called as the own one is.
  for (const cluster of [undefined, 'east', 'west', 'home']) {
    const queue = createWorkqueue({
      name: cluster === undefined ? 'mirror' : 'copies',
      clock,
      rateLimit,
      metrics: metrics.of('copies', cluster),
    });
    queue.add('a');
    await queue.get();
    queue.done('a');
  }
  createClientMetrics(registry, 'home')('home:6443').retried(429, 'GET');
  metrics.forget('east');
  const told = (await registry.metrics())
    .split('\n')
    .filter((line) => /^\w+(_count)?\{/.test(line) && !line.includes('_bucket') && !line.includes('_sum'));
  expect(told.filter((line) => line.includes('"east"'))).toEqual([]);
  expect(told.filter((line) => line.includes('"west"'))).toHaveLength(7);
  expect(told).toContain('rest_client_request_retries_total{code="429",verb="GET",host="home:6443",cluster="home"} 1');
  metrics.forget('home');
  expect(await linesOf(registry, 'workqueue_longest_running_processor_seconds')).toHaveLength(2);
});

test('durations fall into the buckets of client-go: powers of ten for queues, and those of latencies for requests', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const metrics = createWorkqueueMetrics(registry, clock).of('job');
  const queue = createWorkqueue({ name: 'job', clock, rateLimit: { baseDelayMs: 1000, maxDelayMs: 1000 }, metrics });
  queue.add('a');
  await queue.get();
  queue.done('a');
  const client = createClientMetrics(registry)('one:6443');
  client.answered('200', 'GET', 'LIST', 20);
  client.limited('POST', 1500);
  const bounds = async (name: string): Promise<string[]> =>
    (await linesOf(registry, `${name}_bucket`)).map((line) => /le="([^"]+)"/.exec(line)?.[1] ?? '');
  const powers = ['1e-8', '1e-7', '0.000001', '0.00001', '0.0001', '0.001', '0.01', '0.1', '1', '10', '100', '1000', '+Inf'];
  expect(await bounds('workqueue_queue_duration_seconds')).toEqual(powers);
  expect(await bounds('workqueue_work_duration_seconds')).toEqual(powers);
  const latencies = ['0.005', '0.025', '0.1', '0.25', '0.5', '1', '2', '4', '8', '15', '30', '60', '+Inf'];
  expect(await bounds('rest_client_request_duration_seconds')).toEqual(latencies);
  expect(await bounds('rest_client_rate_limiter_duration_seconds')).toEqual(latencies);
});
