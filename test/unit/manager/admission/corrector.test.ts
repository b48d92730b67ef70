import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../manager/admission/admission-cache.ts';
import { createCorrector } from '../../../../manager/admission/corrector.ts';
import { buildQueueingSetup } from '../../../../manager/admission/snapshot.ts';
import { createRecordKeeper } from '../../../../manager/api/record-keeper.ts';
import { createManagerMetrics } from '../../../../manager/metrics.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aRecord, TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { aWorkload, objects } from './setup.ts';

test('a Job that is gone, as the cache will show later, is not written to without end', async () => {
  const clock = new FakeClock();
  const suspended = aWorkload('gone', {}, { unmarked: true, phase: 'Evicting', record: aRecord() });
  const cached = [suspended];
  let writes = 0;
  const answer = async (): Promise<never> => {
    writes++;
    if (writes > 100) throw new Error('it writes without end');
    throw new ApiError(404, { code: 404, reason: 'NotFound', message: 'jobs.batch "gone" not found' });
  };
  const corrector = createCorrector({
    client: { create: answer, replace: answer, replaceStatus: answer, patch: answer, patchStatus: answer, delete: answer },
    events: { event: () => {}, flush: async () => {} },
    storyEvents: { event: () => {}, flush: async () => {} },
    cache: createAdmissionCache(buildQueueingSetup(objects({}))),
    watcher: { toCorrect: () => cached, toTell: () => [] },
    records: createRecordKeeper(TEST_RECORD_KEYS),
    requeuingTimestamp: 'Eviction' as const,
    losses: { find: () => [], lookAnew: () => {}, stop: () => {} },
    unresolved: () => undefined,
    wake: () => correct(),
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(new Registry()).admission,
  });
  const signal = new AbortController().signal;
  const correct = (): void => corrector.correct(signal);
  correct();
  await clock.settle();
  expect(writes).toBe(1);
  await clock.advance(500);
  expect(writes).toBe(2);
  cached.pop();
  await clock.advance(5_000);
  expect(writes).toBe(2);
});
