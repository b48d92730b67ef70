import { expect, test } from 'vitest';
import { createLastingTroubles } from '../../../../manager/submission/lasting-troubles.ts';
import type { RedisTrouble } from '../../../../manager/submission/redis-health.ts';

const trouble = (reason: RedisTrouble['reason'], works = false, message = reason as string): RedisTrouble => ({ reason, message, works });
const reasons = (told: readonly RedisTrouble[] | undefined): readonly string[] | undefined => told?.map(({ reason }) => reason);

test('nothing is told before somebody has looked', () => {
  expect(createLastingTroubles().seen(undefined, 0)).toBeUndefined();
});

test('a trouble is told at once, the gravest first, and until it has stayed away for a minute', () => {
  const lasting = createLastingTroubles();
  expect(reasons(lasting.seen([trouble('Evicting', true)], 0))).toEqual(['Evicting']);
  expect(reasons(lasting.seen([trouble('Evicting', true), trouble('Full')], 10_000))).toEqual(['Full', 'Evicting']);
  expect(reasons(lasting.seen([], 60_000))).toEqual(['Full', 'Evicting']);
  expect(reasons(lasting.seen([trouble('Full')], 69_000))).toEqual(['Full', 'Evicting']);
  expect(reasons(lasting.seen([], 70_000))).toEqual(['Full']);
  expect(reasons(lasting.seen([], 129_000))).toEqual([]);
});

test('other words for the same are no news', () => {
  const lasting = createLastingTroubles();
  const told = lasting.seen([trouble('Unreachable', false, 'refused by 10.0.0.1')], 0);
  expect(lasting.seen([trouble('Unreachable', false, 'refused by 10.0.0.2')], 10_000)).toEqual(told);
});
