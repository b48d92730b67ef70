import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { createEvictionController } from '../../../../../manager/admission/controllers/eviction-controller.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { createRecordKeeper } from '../../../../../manager/api/record-keeper.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import type { ObjectKey } from '../../../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aRecord, TEST_RECORD_KEYS } from '../../../../support/jobs.ts';
import { aCluster, aWorkload, objects } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

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
  const evictionController = createEvictionController({
    kind: JOB_KIND,
    client: { create: answer, replace: answer, replaceStatus: answer, patch: answer, patchStatus: answer, delete: answer },
    events: { event: () => {}, flush: async () => {} },
    storyEvents: { event: () => {}, flush: async () => {} },
    cache: createAdmissionCache(buildQueueingSetup(objects({}))),
    watcher: { toCorrect: () => cached, toReport: () => [] },
    records: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND),
    requeuingTimestamp: 'Eviction' as const,
    losses: { find: () => [], recheck: () => {}, stop: () => {} },
    unresolved: () => undefined,
    wake: () => correct(),
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(new Registry()).admission,
  });
  const signal = new AbortController().signal;
  const correct = (): void => evictionController.correct(signal);
  correct();
  await clock.settle();
  expect(writes).toBe(1);
  await clock.advance(500);
  expect(writes).toBe(2);
  cached.pop();
  await clock.advance(5_000);
  expect(writes).toBe(2);
});

describe('of many Jobs', () => {
  const world = () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const cache = createAdmissionCache(buildQueueingSetup(objects({})));
    const gone = new Set<string>();
    const patch = async (_resource: unknown, { name }: ObjectKey): Promise<never> => {
      asked.push(name);
      return new Promise<never>((_resolve, reject) => void answers.push(() => reject(new ApiError(409, { reason: 'Conflict' }))));
    };
    const never = async (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));
    const evictionController = createEvictionController({
      kind: JOB_KIND,
      client: { create: never, replace: never, replaceStatus: never, patch, patchStatus: never, delete: never },
      events: { event: () => {}, flush: async () => {} },
      storyEvents: { event: () => {}, flush: async () => {} },
      cache,
      watcher: { toCorrect: () => [], toReport: () => [] },
      records: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND),
      requeuingTimestamp: 'Eviction' as const,
      losses: { find: () => [], recheck: () => {}, stop: () => {} },
      unresolved: ({ record }) => (gone.has(record.cluster) ? `${record.cluster} is gone` : undefined),
      wake: () => {},
      clock,
      log: silentLogger,
      metrics: createManagerMetrics(new Registry()).admission,
    });
    const place = (name: string, cluster: string): void =>
      cache.admit(aWorkload(name, {}, { phase: 'Admitted' }), aRecord({ cluster, flavors: {} }));
    const correct = (): void => evictionController.correct(new AbortController().signal);
    return { clock, cache, asked, answers, gone, evictionController, place, correct };
  };

  test('that are to leave a cluster so many are told at once, and the others when those have been', async () => {
    const { clock, cache, asked, answers, place, correct } = world();
    cache.setClusters([aCluster('eu', { draining: true }), aCluster('us')]);
    for (let index = 0; index < 250; index++) place(`job-${index}`, 'eu');
    place('stays', 'us');
    correct();
    await clock.settle();
    expect(asked).toHaveLength(200);
    correct();
    await clock.settle();
    expect(asked).toHaveLength(200);
    for (const answer of answers) answer();
    await clock.settle();
    correct();
    await clock.settle();
    expect(new Set(asked)).toEqual(new Set(Array.from({ length: 250 }, (_, index) => `job-${index}`)));
    expect(asked).toHaveLength(250);
  });

  test('those are looked at whose admission may not stand any more, once the cache has gone on', async () => {
    const { clock, cache, asked, gone, evictionController, place, correct } = world();
    place('a', 'eu');
    place('b', 'eu');
    place('c', 'us');
    gone.add('eu');
    evictionController.recheckAdmissions(({ workload }) => workload.name !== 'b');
    correct();
    await clock.advance(40_000);
    correct();
    expect(asked).toEqual([]);
    expect(cache.continueVisits(() => false)).toBe(false);
    correct();
    await clock.advance(29_000);
    correct();
    expect(asked).toEqual([]);
    await clock.advance(1_000);
    correct();
    await clock.settle();
    expect(asked).toEqual(['a']);
  });
});
