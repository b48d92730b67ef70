import { expect, test } from 'vitest';
import { refusedRecord } from '../../../../../manager/admission/workload/avoidance.ts';
import { createShapeAvoidance, type ShapeAvoidance } from '../../../../../manager/admission/workload/shape-avoidance.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { toWireTime } from '../../../../../shared/api/wire-time.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const job = (name: string, record: Partial<AdmissionRecord> | undefined, parts: Partial<Workload> = {}): Workload =>
  aWorkload(
    name,
    {},
    { shape: 'S', phase: 'Admitted', ...parts, ...(record === undefined ? { phase: 'Pending' } : { record: aRecord(record) }) },
  );
const since = (minutes: number): string => toWireTime(NOW + minutes * MINUTE);

/** One that was placed then came to nothing now. */
function failed(
  shapes: ShapeAvoidance,
  name: string,
  placedAt: number,
  at: number,
  reason = 'Refused',
  earlier: Partial<AdmissionRecord> = {},
): AdmissionRecord {
  const record = aRecord({ since: since(placedAt), ...earlier });
  const nowMs = NOW + at * MINUTE;
  const next = refusedRecord({ ...record, evicted: true }, reason, (refusals) => shapes.next('S', record, refusals, nowMs));
  shapes.observe(job(name, next, { phase: 'Evicting' }), nowMs);
  return next;
}
const problem = (shapes: ShapeAvoidance, at: number, shape = 'S'): string | undefined =>
  shapes.of(shape, 'eu-1', NOW + at * MINUTE)?.problem;

test('what a cluster refused of one Job it is not sent of the others of its shape, until the time is over', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  expect(problem(shapes, 0.9)).toBe('refused Jobs like this one (Refused), avoided until 2026-01-01T00:01:00Z');
  expect([problem(shapes, 0.9, 'other'), shapes.of('S', 'us-2', NOW), problem(shapes, 1)]).toEqual([undefined, undefined, undefined]);
});

test('then one goes, and the others wait for what becomes of it', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  const cycle = shapes.fork();
  cycle.goes('S', 'eu-1');
  expect(cycle.of('S', 'eu-1', NOW + MINUTE)?.problem).toBe('failed Jobs like this one (Refused), and is tried by another first');
  shapes.placed(job('b', undefined), aRecord({ since: since(1) }));
  expect(problem(shapes, 1)).toBe('failed Jobs like this one (Refused), and is tried by team/b first');
});

test('it started: the cluster is open to all', () => {
  const shapes = createShapeAvoidance();
  const first = failed(shapes, 'a', 0, 0);
  shapes.placed(job('b', undefined), aRecord({ since: since(1) }));
  expect(shapes.observe(job('b', { since: since(1) }, { started: true }), NOW + 2 * MINUTE)).toBe(true);
  expect(problem(shapes, 2)).toBeUndefined();
  expect(shapes.observe(job('a', first, { phase: 'Pending' }), NOW + 2 * MINUTE)).toBe(false);
  expect(problem(shapes, 2)).toBeUndefined();
});

test('it ended before anybody saw it start: the same', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  shapes.observe(job('b', { since: since(1) }, { started: true, phase: 'Finished' }), NOW + 2 * MINUTE);
  expect(problem(shapes, 2)).toBeUndefined();
});

test('it came to nothing: the cluster is avoided twice as long, by all', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  shapes.placed(job('b', undefined), aRecord({ since: since(1) }));
  expect(failed(shapes, 'b', 1, 1).avoid).toEqual({ 'eu-1': { until: since(3), reason: 'Refused', refusals: 1, epoch: 1, level: 2 } });
  expect([problem(shapes, 2.9), problem(shapes, 3)]).toEqual([
    'refused Jobs like this one (Refused), avoided until 2026-01-01T00:03:00Z',
    undefined,
  ]);
});

test('it is suspended, deleted or given up: the next one goes', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  shapes.placed(job('b', undefined), aRecord({ since: since(1) }));
  expect(shapes.observe(job('b', { since: since(1), evicted: true }, { phase: 'Evicting' }), NOW + MINUTE)).toBe(true);
  expect(problem(shapes, 1)).toBeUndefined();
  shapes.placed(job('c', undefined), aRecord({ since: since(1) }));
  expect([shapes.released(job('b', undefined)), shapes.released(job('c', undefined))]).toEqual([false, true]);
});

test('many that were on their way at the same time count as one', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0.5);
  const avoid = failed(shapes, 'b', 0, 0.7).avoid?.['eu-1'];
  expect(avoid).toEqual({ until: since(1.5), reason: 'Refused', refusals: 1, epoch: 1 });
});

test('a manager that starts anew knows it from the records that it sees', () => {
  const before = createShapeAvoidance();
  const record = failed(before, 'a', 0, 0);
  const after = createShapeAvoidance();
  after.observe(job('a', record, { phase: 'Pending' }), NOW);
  expect(problem(after, 0.5)).toBe(problem(before, 0.5));
  after.observe(job('b', { since: since(1) }), NOW + MINUTE);
  expect(problem(after, 1)).toContain('is tried by team/b first');
});

test('a name that is taken is nothing to Jobs of other names', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0, 'NameTaken');
  expect([problem(shapes, 0), shapes.knows('S')]).toEqual([undefined, false]);
});

test('one that has not arrived is told that its cluster refused others meanwhile; that they did not start is no reason to turn it back', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0.1);
  expect(shapes.refusedMeanwhile('S', aRecord({ since: since(0) }))).toBe('Refused');
  expect(shapes.refusedMeanwhile('S', aRecord({ since: since(2) }))).toBeUndefined();
  const slow = createShapeAvoidance();
  failed(slow, 'a', 0, 0.1, 'NotStarted');
  expect(slow.refusedMeanwhile('S', aRecord({ since: since(0) }))).toBeUndefined();
});

test('what is old is forgotten when something new is learned', () => {
  const shapes = createShapeAvoidance();
  failed(shapes, 'a', 0, 0);
  shapes.observe(
    job(
      'b',
      refusedRecord(aRecord({ since: since(120) }), 'Refused', () => ({ untilMs: NOW + 121 * MINUTE, level: 1 })),
      { shape: 'T' },
    ),
    NOW + 120 * MINUTE,
  );
  expect([shapes.knows('S'), shapes.knows('T')]).toEqual([false, true]);
});
