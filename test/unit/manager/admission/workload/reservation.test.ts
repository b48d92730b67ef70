import { expect, test } from 'vitest';
import { hasPlace, holdsLess } from '../../../../../manager/admission/workload/reservation.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aWorkload } from '../setup.ts';

test('only who runs, or has a place reserved, can be told to give it up', () => {
  const has = (['Pending', 'Reserved', 'Admitted', 'Unrecorded', 'Evicting', 'Finished'] as const).filter((phase) =>
    hasPlace(aWorkload('a', {}, { phase })),
  );
  expect(has).toEqual(['Reserved', 'Admitted']);
});

test('less of one thing is less, whatever there is more of, and so is nothing', () => {
  const holding = (requests: Record<string, string>) => ({
    workload: aWorkload('a'),
    record: aRecord(),
    held: parseRequests(requests),
    assumed: false,
  });
  const before = holding({ cpu: '2', memory: '1Gi' });
  const found = [{ cpu: '2', memory: '1Gi' }, { cpu: '3', memory: '1Gi', pods: '1' }, { cpu: '1', memory: '2Gi' }, { cpu: '2' }].map(
    (now) => holdsLess(holding(now), before),
  );
  expect(found).toEqual([false, false, true, true]);
  expect(holdsLess(undefined, before)).toBe(true);
});
