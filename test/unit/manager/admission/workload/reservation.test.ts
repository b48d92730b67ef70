import { expect, test } from 'vitest';
import { hasPlace } from '../../../../../manager/admission/workload/reservation.ts';
import { aWorkload } from '../setup.ts';

test('only who runs, or has a place reserved, can be told to give it up', () => {
  const has = (['Pending', 'Reserved', 'Admitted', 'Unrecorded', 'Evicting', 'Finished'] as const).filter((phase) =>
    hasPlace(aWorkload('a', {}, { phase })),
  );
  expect(has).toEqual(['Reserved', 'Admitted']);
});
