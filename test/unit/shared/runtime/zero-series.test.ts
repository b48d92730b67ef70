import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { fromZero } from '../../../../shared/runtime/zero-series.ts';

test('each combination of the values is there with 0, and what was counted before stays', async () => {
  const registry = new Registry();
  const counter = new Counter({ name: 'a_total', help: 'a', labelNames: ['cluster', 'verb'], registers: [registry] });
  counter.inc({ cluster: 'east', verb: 'create' }, 3);
  fromZero(counter, { cluster: 'east', verb: ['create', 'delete'] });
  const { values } = await counter.get();
  expect(values.map(({ labels, value }) => [labels, value])).toEqual([
    [{ cluster: 'east', verb: 'create' }, 3],
    [{ cluster: 'east', verb: 'delete' }, 0],
  ]);
});
