import { expect, test } from 'vitest';
import { OnTheirWay } from '../../../../../manager/admission/cache/on-their-way.ts';
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
  const onTheirWay = new OnTheirWay({ refusedMeanwhile: (shape, { cluster }) => (refusing.has(shape) ? `${cluster} refused` : undefined) });
  const found = () => [...onTheirWay.refusedAlike()].map(([{ workload }, reason]) => `${workload.name}: ${reason}`);
  return { refusing, onTheirWay, found };
}

test('whoever is on its way when its shape is refused is found, once that is known, and no longer when it may go there again', () => {
  const { refusing, onTheirWay, found } = aWorld();
  onTheirWay.watch(sent('a'));
  onTheirWay.watch(sent('other', { shape: 'other' }));
  refusing.add('shape');
  expect(found()).toEqual([]);
  onTheirWay.reviewShape('shape');
  expect(found()).toEqual(['a: eu-1 refused']);
  onTheirWay.watch(sent('b'));
  expect(found()).toEqual(['a: eu-1 refused', 'b: eu-1 refused']);
  refusing.clear();
  onTheirWay.reviewShape('shape');
  expect(found()).toEqual([]);
});

test('whoever is forgotten is not found, and not compared again', () => {
  const { refusing, onTheirWay, found } = aWorld();
  refusing.add('shape');
  onTheirWay.watch(sent('a'));
  onTheirWay.forget(sent('a'));
  onTheirWay.reviewShape('shape');
  expect(found()).toEqual([]);
});

test.each<[string, Reservation]>([
  ['has a copy', sent('a', { dispatched: true })],
  ['has started', sent('a', { started: true })],
  ['is being suspended', sent('a', { phase: 'Evicting' })],
  ['waits for its record to be written', sent('a', {}, true)],
  ['was refused itself', sent('a', { refusal: 'no' })],
])('whoever %s is not found', (_, reservation) => {
  const { refusing, onTheirWay, found } = aWorld();
  refusing.add('shape');
  onTheirWay.watch(reservation);
  onTheirWay.reviewShape('shape');
  expect(found()).toEqual([]);
});
