import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createInvariantMetrics } from '../../../../shared/runtime/invariant-metrics.ts';
import { createInvariantWatch } from '../../../../shared/runtime/invariant-watch.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const setUp = (subjects: readonly string[] = []) => {
  const clock = new FakeClock();
  const registry = new Registry();
  const broken = new Set<string>();
  const looked: string[] = [];
  const errors: string[] = [];
  const told: string[] = [];
  const watch = createInvariantWatch<'holds'>({
    graceMs: { holds: 10_000 },
    findingsOf(subject) {
      looked.push(subject);
      return broken.has(subject) ? [{ invariant: 'holds', mark: '', message: `${subject} is broken` }] : [];
    },
    subjects: () => subjects,
    seen: (subject) => ({ subject }),
    onViolation: ({ subject }) => void told.push(subject),
    metrics: createInvariantMetrics(registry),
    clock,
    log: { ...silentLogger, error: (_, fields) => void errors.push(String(fields?.['message'])) },
  });
  const stopping = new AbortController();
  const done = watch.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done;
  };
  return { clock, registry, broken, looked, errors, told, watch, stop };
};

test('a violation is logged once, told once, counted, and dumped with what was seen', async () => {
  const { clock, registry, broken, errors, told, watch, stop } = setUp();
  expect(await registry.metrics()).toContain('switchyard_invariant_violations{invariant="holds"} 0');
  expect(await registry.metrics()).toContain('switchyard_invariant_checks_total{invariant="holds"} 0');
  broken.add('a');
  watch.changed('a');
  await clock.advance(60_000);
  expect(errors).toEqual(['a is broken']);
  expect(told).toEqual(['a']);
  expect(await registry.metrics()).toContain('switchyard_invariant_violations{invariant="holds"} 1');
  expect(watch.report()).toMatchObject({ violations: { holds: 1 }, dumps: [{ invariant: 'holds', subject: 'a', seen: { subject: 'a' } }] });
  broken.clear();
  await clock.advance(5_000);
  expect(await registry.metrics()).toContain('switchyard_invariant_violations{invariant="holds"} 0');
  expect(watch.report()).toMatchObject({ violations: { holds: 0 }, dumps: [{ subject: 'a', ended: expect.any(String) }] });
  await stop();
});

test('what changes a thousand times is looked at once a turn, and all come round though nothing changes', async () => {
  const { clock, looked, watch, stop } = setUp(Array.from({ length: 1_200 }, (_, index) => `job-${index}`));
  for (let count = 0; count < 1_000; count++) watch.changed('busy');
  await clock.advance(5_000);
  expect(looked).toEqual(['busy']);
  await clock.advance(5_000);
  expect(looked).toHaveLength(501);
  await clock.advance(10_000);
  expect(new Set(looked).size).toBe(1_201);
  expect(looked).toHaveLength(1_201);
  await stop();
});

test('of very many dumps the last ones are kept', async () => {
  const { clock, broken, watch, stop } = setUp();
  for (let index = 0; index < 80; index++) {
    broken.add(`job-${index}`);
    watch.changed(`job-${index}`);
  }
  await clock.advance(20_000);
  expect(watch.report().violations).toEqual({ holds: 80 });
  expect(watch.report().dumps).toHaveLength(50);
  await stop();
});
