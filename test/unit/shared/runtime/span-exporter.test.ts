import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock, type Clock } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createSpanExporter, type SpanExporter } from '../../../../shared/runtime/span-exporter.ts';
import type { Span } from '../../../../shared/runtime/span.ts';
import { traceDestination } from '../../../../shared/runtime/tracing-flags.ts';
import { startTraceCollector, type TraceCollector } from '../../../support/trace-collector.ts';

/** Waits a hundredth of the time, and of that which an answer may take a tenth: what it was asked to wait is written down. */
function hastyClock(waits: number[]): Clock {
  return {
    ...systemClock,
    schedule(callback, delayMs) {
      waits.push(delayMs);
      return systemClock.schedule(callback, delayMs === 2_000 ? delayMs : delayMs / (delayMs === 10_000 ? 10 : 100));
    },
  };
}

let collector: TraceCollector;
let counted: Record<'exported' | 'dropped', number>;
let waits: number[];
let stop: AbortController;
let running: Promise<void>;
let exporter: SpanExporter;

const span = (name: string): Span => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name,
  startMs: 1,
  endMs: 2,
  attributes: {},
});

function start(url = collector.url, environment: Record<string, string> = {}): void {
  const destination = traceDestination(url, environment);
  if (destination === undefined) throw new Error('an endpoint');
  exporter = createSpanExporter({
    ...destination,
    resource: { 'service.name': 'test' },
    count: (result, spans) => (counted[result] += spans),
    clock: hastyClock(waits),
    random: () => 0.5,
    log: silentLogger,
  });
  running = exporter.run(stop.signal);
}

beforeEach(async () => {
  collector = await startTraceCollector();
  counted = { exported: 0, dropped: 0 };
  waits = [];
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await running;
  await collector.close();
});

const settled = (spans: number): Promise<void> => vi.waitFor(() => expect(counted.exported + counted.dropped).toBe(spans), 10_000);

test('spans go to the collector in one request, with the headers of the variable', async () => {
  start(collector.url, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret' });
  exporter.export(span('a'));
  exporter.export(span('b'));
  await settled(2);
  expect(collector.spans.map(({ name, service }) => [name, service])).toEqual([
    ['a', 'test'],
    ['b', 'test'],
  ]);
  expect(collector.requests).toHaveLength(1);
  expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'Bearer secret' } });
  expect(counted).toEqual({ exported: 2, dropped: 0 });
});

test('a collector that is busy is asked again after the time that it says, but not after an hour', async () => {
  collector.answers.push({ status: 429, headers: { 'retry-after': '3' } }, { status: 503, headers: { 'retry-after': '3600' } });
  start();
  exporter.export(span('a'));
  await settled(1);
  expect(collector.spans).toHaveLength(1);
  expect(waits).toContain(3_000);
  expect(waits).toContain(30_000);
  expect(Math.max(...waits)).toBe(30_000);
});

test('a collector that goes on failing is given up after five tries, and the next spans have theirs', async () => {
  collector.answers.push(...Array.from({ length: 5 }, () => ({ status: 503 })));
  start();
  exporter.export(span('lost'));
  await settled(1);
  expect(counted).toEqual({ exported: 0, dropped: 1 });
  exporter.export(span('found'));
  await settled(2);
  expect(collector.spans.map(({ name }) => name)).toEqual(['found']);
});

test('what a collector refuses is not sent again, and what it took in part is counted in part', async () => {
  collector.answers.push({ status: 400 }, { status: 200, body: '{"partialSuccess":{"rejectedSpans":"1"}}' });
  start();
  exporter.export(span('a'));
  await settled(1);
  exporter.export(span('b'));
  exporter.export(span('c'));
  await settled(3);
  expect(collector.requests).toHaveLength(2);
  expect(counted).toEqual({ exported: 1, dropped: 2 });
});

test('one that never answers is left after ten seconds', async () => {
  collector.answers.push('Never');
  start();
  exporter.export(span('a'));
  await settled(1);
  expect(collector.spans).toHaveLength(1);
  expect(waits).toContain(10_000);
});

test('headers are not carried to where a redirect leads', async () => {
  const other = await startTraceCollector();
  collector.answers.push(...Array.from({ length: 5 }, () => ({ status: 307, headers: { location: `${other.url}/v1/traces` } })));
  start();
  exporter.export(span('a'));
  await settled(1);
  expect(other.requests).toEqual([]);
  expect(counted.dropped).toBe(1);
  await other.close();
});

test('one that is dead costs nothing but spans: the buffer has an end, and the program ends in time', async () => {
  const dead = collector.url;
  await collector.close();
  start(dead);
  for (let k = 0; k < 10_000; k++) exporter.export(span(`${k}`));
  expect(counted.dropped).toBe(10_000 - 4_096);
  stop.abort();
  await running;
  expect(counted).toEqual({ exported: 0, dropped: 10_000 });
});

test('what is left when the program ends is still sent', async () => {
  start();
  exporter.export(span('a'));
  stop.abort();
  await running;
  expect(collector.spans.map(({ name }) => name)).toEqual(['a']);
});
