/** Goal: what a large installation tells Prometheus keeps nothing else waiting, and is what the library would tell. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createMetricsText } from '../../../../shared/runtime/metrics-text.ts';
import type { Timer } from '../../../../shared/runtime/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('the text is the library’s, byte for byte, also of what has no series, many, or hostile names', async () => {
  const registry = new Registry();
  const registers = [registry];
  const counter = new Counter({ name: 'a_total', help: 'a\nof two lines', labelNames: ['queue'], registers });
  const histogram = new Histogram({ name: 'b_seconds', help: 'b', labelNames: ['queue'], buckets: [0.1, 1], registers });
  new Gauge({ name: 'c', help: 'c', labelNames: ['queue'], registers });
  new Gauge({
    name: 'd',
    help: 'd',
    registers,
    collect() {
      this.set(Number.NaN);
    },
  });
  for (const queue of ['"} 1\nup 0', '\\', ...Array.from({ length: 2_500 }, (_, index) => `queue-${index}`)]) {
    counter.inc({ queue });
    histogram.observe({ queue }, 0.5);
  }
  const text = createMetricsText(registry, new FakeClock());
  expect(await text.metrics()).toBe(await registry.metrics());
  expect(text.contentType).toBe(registry.contentType);
});

test('others have their turn while it is written', async () => {
  const registry = new Registry();
  const gauge = new Gauge({ name: 'a', help: 'a', labelNames: ['queue'], registers: [registry] });
  for (let index = 0; index < 5_000; index++) gauge.set({ queue: `queue-${index}` }, index);
  let turns = 0;
  // Whatever is done takes longer than others should wait.
  const clock = new (class extends FakeClock {
    #reads = 0;
    override monotonic(): number {
      return super.monotonic() + this.#reads++ * 100;
    }
    override schedule(fire: () => void, delayMs: number): Timer {
      turns++;
      return super.schedule(fire, delayMs);
    }
  })();
  const scrape = createMetricsText(registry, clock).metrics();
  await clock.advance(1);
  expect((await scrape).split('\n')).toHaveLength(5_003);
  expect(turns).toBe(5);
});
