import { expect, test } from 'vitest';
import { SITUATIONS } from './preemption-situations.ts';
import { incoming, told } from './preemption-world.ts';

test.each(SITUATIONS.map((situation) => [situation.name, situation] as const))('%s', (_, { setting, incoming: comes, victims }) => {
  expect(told(incoming(setting, comes).victims)).toEqual(victims);
});
