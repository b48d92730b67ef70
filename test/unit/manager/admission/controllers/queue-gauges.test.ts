import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createQueueGauges } from '../../../../../manager/admission/controllers/queue-gauges.ts';

const aGauge = () => new Gauge({ name: 'pending', help: 'how many wait', labelNames: ['queue', 'status'], registers: [new Registry()] });
const valuesOf = async (gauge: ReturnType<typeof aGauge>) =>
  (await gauge.get()).values.map(({ labels, value }) => `${labels.queue} ${labels.status} ${value}`).toSorted((a, b) => (a < b ? -1 : 1));

test('a queue that is not told of any more has no value, and one of which nothing has changed keeps its own', async () => {
  const gauges = createQueueGauges();
  const gauge = aGauge();
  gauges.set(gauge, { queue: 'a', status: 'active' }, 1);
  gauges.set(gauge, { queue: 'a', status: 'inadmissible' }, 2);
  gauges.set(gauge, { queue: 'b', status: 'active' }, 3);
  gauges.endRound();
  expect(await valuesOf(gauge)).toEqual(['a active 1', 'a inadmissible 2', 'b active 3']);
  gauges.set(gauge, { queue: 'a', status: 'active' }, 1);
  gauges.set(gauge, { queue: 'a', status: 'inadmissible' }, 4);
  gauges.endRound();
  expect(await valuesOf(gauge)).toEqual(['a active 1', 'a inadmissible 4']);
});

test('what is no number is told once, and one that comes again is told of again', async () => {
  const gauges = createQueueGauges();
  const gauge = aGauge();
  for (const value of [Number.NaN, Number.NaN, 0]) {
    gauges.set(gauge, { queue: 'a', status: 'active' }, value);
    gauges.endRound();
    expect(await valuesOf(gauge)).toEqual([`a active ${value}`]);
  }
  gauges.endRound();
  expect(await valuesOf(gauge)).toEqual([]);
  gauges.set(gauge, { queue: 'a', status: 'active' }, 0);
  expect(await valuesOf(gauge)).toEqual(['a active 0']);
});
