import { expect, test } from 'vitest';
import { callCost } from '../../../../shared/cel/call-cost.ts';
import { COST_LIMIT_EXCEEDED, CostMeter } from '../../../../shared/cel/cost-meter.ts';

test('an evaluation may cost a million units, and not one more', () => {
  const meter = new CostMeter();
  meter.charge(1_000_000);
  expect(meter.stopped).toBeUndefined();
  expect(() => meter.charge(1)).toThrow(COST_LIMIT_EXCEEDED);
  expect(meter.stopped).toBe(COST_LIMIT_EXCEEDED);
});

test('a call whose cost cannot be counted stops the evaluation, and any other fault does not', () => {
  const meter = new CostMeter();
  const refuse = (error: Error) => () => {
    throw error;
  };
  expect(() => meter.chargeCall(refuse(new Error('of ours')))).toThrow('of ours');
  expect(meter.stopped).toBeUndefined();
  expect(() => meter.chargeCall(() => callCost('distinct', true, [undefined], undefined))).toThrow('internal error');
  expect(meter.stopped).toContain('internal error');
});

test('the next evaluation begins with nothing', () => {
  const meter = new CostMeter();
  meter.charge(7);
  meter.onlyOnce = 3;
  meter.stopped = 'full';
  meter.reset();
  expect(meter).toMatchObject({ cost: 0, onlyOnce: 0, stopped: undefined });
});
