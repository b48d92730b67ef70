/** Goal: one Job's whole life, with a real manager and worker, is one trace at a collector that is there over real HTTP. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportedTraceId, jobTrace } from '../../shared/api/job-trace.ts';
import { TRACE_PODS_ANNOTATION, TRACEPARENT_ANNOTATION } from '../../shared/api/names.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createSpanExporter } from '../../shared/runtime/span-exporter.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { createWholeWorld, HOME, type WholeWorld } from '../scenario/whole-world.ts';
import { createCrds } from '../support/crds.ts';
import { startTraceCollector, type ReceivedSpan, type TraceCollector } from '../support/trace-collector.ts';

const LIMIT_MS = 60_000;
const SUBMITTER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let collector: TraceCollector;
let world: WholeWorld;
let stop: AbortController;
let exporting: Promise<void>;

beforeEach(async () => {
  collector = await startTraceCollector();
  stop = new AbortController();
  world = await createWholeWorld({
    clusters: ['east'],
    install: async (client, cluster) => {
      if (cluster === HOME) await createCrds(client);
    },
  });
  const spans = createSpanExporter({
    url: `${collector.url}/v1/traces`,
    headers: {},
    resource: { 'service.name': 'switchyard-worker' },
    count: () => undefined,
    clock: world.clock,
    random: () => 0.5,
    log: silentLogger,
  });
  exporting = spans.run(stop.signal);
  world.startWorker('east', 'worker', { spans });
}, LIMIT_MS);
afterEach(async () => {
  stop.abort();
  // What an ended program has left is sent on the world's clock.
  await world.clock.advance(3_000);
  await exporting;
  await world.close();
  await collector.close();
}, LIMIT_MS);

const trace = (name: string) =>
  world.startManager(name, { parts: { tracing: { url: `${collector.url}/v1/traces`, headers: {}, ratio: 1, pods: false } } });

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await world.clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
const isOver = async (name: string): Promise<boolean> => isFinished((await world.job(name)).status);
/** A program that ends before its collector answers sends its last spans again; collectors know a span by its id. */
const named = (name: string): ReceivedSpan => {
  const found = [...new Map(collector.spans.filter((span) => span.name === name).map((span) => [span.spanId, span])).values()];
  if (found.length !== 1) throw new Error(`${found.length} spans ${name} in ${collector.spans.map((each) => each.name).join(', ')}`);
  return found[0] as ReceivedSpan;
};
const PARTS = ['submit', 'queued', 'admitted', 'dispatched', 'pods', 'home'];

test('from its submitter to its pods: each part once, in order, within the span of the Job', { timeout: LIMIT_MS }, async () => {
  trace('manager');
  await world.clock.advance(5_000);
  await world.submit('sum', { annotations: { [TRACEPARENT_ANNOTATION]: SUBMITTER, [TRACE_PODS_ANNOTATION]: 'on' } });
  let told: unknown;
  await until(async () => {
    for (const pod of await world.podsOn('east')) told = pod.spec.containers?.[0]?.env?.find(({ name }) => name === 'TRACEPARENT')?.value;
    return isOver('sum');
  });
  await until(() => collector.spans.length >= PARTS.length + 2);
  const job = await world.job('sum');
  const { traceId, spanId } = jobTrace(job);
  expect(traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(told).toBe(`00-${traceId}-${spanId}-01`);
  expect(exportedTraceId(job)).toBe(traceId);
  expect(collector.spans.map(({ name }) => name).toSorted()).toEqual([...PARTS, 'job', 'run'].toSorted());
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const whole = named('job');
  expect(whole).toMatchObject({ spanId, parentSpanId: 'b7ad6b7169203331', service: 'switchyard-manager' });
  expect(whole.attributes).toMatchObject({ 'k8s.job.name': 'sum', 'switchyard.cluster': 'east' });
  let before = whole.startMs;
  for (const part of PARTS.map(named)) {
    expect(part.parentSpanId).toBe(spanId);
    expect(part.startMs).toBe(before);
    expect(part.endMs).toBeGreaterThanOrEqual(part.startMs);
    before = part.endMs;
  }
  expect(whole.endMs).toBe(before);
  expect(named('run')).toMatchObject({ parentSpanId: spanId, service: 'switchyard-worker' });
  expect(named('pods').endMs - named('pods').startMs).toBeGreaterThanOrEqual(1_000);
});

test('a manager that takes over goes on with the same trace, and pods are told nothing unless somebody asks', {
  timeout: LIMIT_MS,
}, async () => {
  const first = trace('first');
  await world.clock.advance(5_000);
  await world.submit('sum', { seconds: 60 });
  await until(() => collector.spans.some(({ name }) => name === 'dispatched'));
  expect((await world.podsOn('east')).map((pod) => pod.spec.containers?.[0]?.env?.some(({ name }) => name === 'TRACEPARENT'))).toEqual([
    false,
  ]);
  first.terminate();
  await world.clock.advance(5_000);
  trace('second');
  await until(() => isOver('sum'));
  await until(() => collector.spans.some(({ name }) => name === 'job'));
  for (const part of [...PARTS, 'job', 'run']) named(part);
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([jobTrace(await world.job('sum')).traceId]));
});

test('a collector that is dead holds nothing up, and what is lost is counted', { timeout: LIMIT_MS }, async () => {
  await collector.close();
  const registry = new Registry();
  world.startManager('manager', {
    parts: { registry, tracing: { url: `${collector.url}/v1/traces`, headers: {}, ratio: 1, pods: false } },
  });
  await world.clock.advance(5_000);
  await world.submit('sum');
  await until(() => isOver('sum'));
  const dropped = async (): Promise<number> =>
    Number(/switchyard_trace_spans_total\{result="dropped"\} (\d+)/.exec(await registry.metrics())?.[1]);
  await until(async () => (await dropped()) === PARTS.length + 1);
  expect((await world.job('sum')).status?.succeeded).toBe(1);
});
