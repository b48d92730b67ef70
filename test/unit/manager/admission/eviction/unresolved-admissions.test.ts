import { expect, test } from 'vitest';
import { UnresolvedAdmissions } from '../../../../../manager/admission/eviction/unresolved-admissions.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const placed = (name: string, parts: Partial<Reservation> = {}): Reservation => ({
  workload: aWorkload(name, {}, { phase: 'Admitted' }),
  record: aRecord(),
  held: new Map(),
  assumed: false,
  ...parts,
});

/** Reservations, all of which are examined anew, and those among them that are invalid. */
function aWorld(...reservations: readonly Reservation[]) {
  const cache = new Map(reservations.map((each) => [each.workload.key, each]));
  const invalid = new Set(cache.keys());
  const unresolved = new UnresolvedAdmissions(({ workload: { key } }) => (invalid.has(key) ? 'the flavor is gone' : undefined));
  const recheck = (): void => {
    for (const each of reservations) unresolved.recheck(each);
  };
  const find = (nowMs: number) => {
    const { due, againAfterMs } = unresolved.find(cache, nowMs);
    return [...due.map(({ reservation, reason, message }) => `${reservation.workload.name}: ${reason}, ${message}`), againAfterMs];
  };
  return { cache, invalid, recheck, find };
}

test('an admission that stays invalid for 30 s ends, and is found until it has', () => {
  const { cache, recheck, find } = aWorld(placed('a'));
  expect(find(0)).toEqual([undefined]);
  recheck();
  expect(find(1_000)).toEqual([30_000]);
  expect(find(30_999)).toEqual([undefined]);
  expect(find(31_000)).toEqual(['a: AdmissionUnresolved, the flavor is gone', undefined]);
  expect(find(32_000)).toEqual(['a: AdmissionUnresolved, the flavor is gone', undefined]);
  cache.clear();
  expect(find(33_000)).toEqual([undefined]);
});

test('the time begins anew when an admission was valid in between', () => {
  const { invalid, recheck, find } = aWorld(placed('a'));
  recheck();
  find(0);
  invalid.clear();
  expect(find(20_000)).toEqual([undefined]);
  invalid.add('team/a');
  recheck();
  expect(find(25_000)).toEqual([30_000]);
  expect(find(54_999)).toEqual([undefined]);
});

test('an admission that is being written, or that ends already, does not end by that', () => {
  const { recheck, find } = aWorld(
    placed('assumed', { assumed: true }),
    placed('evicting', { workload: aWorkload('evicting', {}, { phase: 'Evicting' }) }),
  );
  recheck();
  find(0);
  expect(find(60_000)).toEqual([undefined]);
});
