import { expect, test } from 'vitest';
import { isDispatched } from '../../../../manager/api/dispatch-proof.ts';
import { dispatched } from '../../../../manager/dispatch/own-conditions.ts';
import { aRecord } from '../../../support/jobs.ts';

test('a Job that says what keeps it from getting on is dispatched all the same, to that cluster and for that placement', () => {
  const record = aRecord({ epoch: 2 });
  const status = (detail?: string) => ({ conditions: [dispatched(record, detail)] });
  expect(dispatched(record).message).toBe('dispatched to cluster "eu-1" (placement 2)');
  expect(dispatched(record, '3 pods wait').message).toBe('dispatched to cluster "eu-1" (placement 2); 3 pods wait');
  for (const detail of [undefined, '3 pods wait']) {
    expect(isDispatched(status(detail), record)).toBe(true);
    expect(isDispatched(status(detail), aRecord({ epoch: 3 }))).toBe(false);
    expect(isDispatched(status(detail), aRecord({ epoch: 2, cluster: 'us-2' }))).toBe(false);
  }
});
