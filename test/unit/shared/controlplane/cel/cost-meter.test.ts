import { expect, test } from 'vitest';
import { COST_LIMIT_EXCEEDED, CostMeter } from '../../../../../shared/controlplane/cel/cost-meter.ts';

test('an evaluation may cost a million units, and not one more', () => {
  const meter = new CostMeter();
  meter.charge(1_000_000);
  expect(meter.exceeded).toBe(false);
  expect(() => meter.charge(1)).toThrow(COST_LIMIT_EXCEEDED);
  expect(meter.exceeded).toBe(true);
});

test('the next evaluation begins with nothing', () => {
  const meter = new CostMeter();
  meter.charge(7);
  meter.onlyOnce = 3;
  meter.reset();
  expect(meter).toMatchObject({ cost: 0, onlyOnce: 0 });
});
