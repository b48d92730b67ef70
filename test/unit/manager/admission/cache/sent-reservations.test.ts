import { expect, test } from 'vitest';
import { SentReservations } from '../../../../../manager/admission/cache/sent-reservations.ts';
import type { Reservation } from '../../../../../manager/admission/workload/reservation.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

const sent = (name: string, parts: Partial<Workload> = {}, assumed = false): Reservation => ({
  workload: aWorkload(name, {}, { phase: 'Admitted', shape: 'shape', ...parts }),
  record: aRecord({ cluster: 'eu-1' }),
  held: new Map(),
  assumed,
});

/** Clusters that have refused the shape since, as it is learned, and those that are found to be on their way there. */
function aWorld() {
  const refusing = new Set<string>();
  const reservations = new SentReservations({
    refusedMeanwhile: (shape, { cluster }) => (refusing.has(shape) ? `${cluster} refused` : undefined),
  });
  const found = () => [...reservations.refusedAlike()].map(([{ workload }, reason]) => `${workload.name}: ${reason}`);
  return { refusing, reservations, found };
}

test('whoever is on its way when its shape is refused is found, once that is known, and no longer when it may go there again', () => {
  const { refusing, reservations, found } = aWorld();
  reservations.watch(sent('a'));
  reservations.watch(sent('other', { shape: 'other' }));
  refusing.add('shape');
  expect(found()).toEqual([]);
  reservations.reviewShape('shape');
  expect(found()).toEqual(['a: eu-1 refused']);
  reservations.watch(sent('b'));
  expect(found()).toEqual(['a: eu-1 refused', 'b: eu-1 refused']);
  refusing.clear();
  reservations.reviewShape('shape');
  expect(found()).toEqual([]);
});

test('whoever is forgotten is not found, and not compared again', () => {
  const { refusing, reservations, found } = aWorld();
  refusing.add('shape');
  reservations.watch(sent('a'));
  reservations.forget(sent('a'));
  reservations.reviewShape('shape');
  expect(found()).toEqual([]);
});

test.each<[string, Reservation]>([
  ['has a copy', sent('a', { dispatched: true })],
  ['has started', sent('a', { started: true })],
  ['is being suspended', sent('a', { phase: 'Evicting' })],
  ['waits for its record to be written', sent('a', {}, true)],
  ['was refused itself', sent('a', { refusal: 'no' })],
])('whoever %s is not found', (_, reservation) => {
  const { refusing, reservations, found } = aWorld();
  refusing.add('shape');
  reservations.watch(reservation);
  reservations.reviewShape('shape');
  expect(found()).toEqual([]);
});
