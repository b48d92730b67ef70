/** Many Jobs that wait for texts that change all the time: what it costs to tell them. */
import { Registry } from 'prom-client';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { expect, test } from 'vitest';
import { createWaitingReporter, type WaitingReporterDeps } from '../../../../../manager/admission/controllers/waiting-reporter.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

/** How many status writes `count` Jobs cost in the first seconds, and in a minute after that of which every second brings another text. */
async function writesOf(
  count: number,
  reasonAt: (second: number) => 'InsufficientQuota' | 'NoClusterFits',
): Promise<{ first: number; later: number }> {
  let second = 0;
  const clock = new FakeClock();
  const keys = Array.from({ length: count }, (_, index) => `team/job-${index}`);
  const jobs = new Map(keys.map((key, index) => [key, aHomeJob({ metadata: { name: `job-${index}` } })]));
  let writes = 0;
  const deps: WaitingReporterDeps = {
    kind: JOB_KIND,
    client: {
      patchStatus: async () => {
        writes++;
        return aHomeJob() as never;
      },
      replaceStatus: () => Promise.reject(new Error('unused')),
    },
    events: { event: () => undefined, flush: async () => undefined },
    jobs: {
      get: ({ namespace, name }) => jobs.get(`${namespace}/${name}`),
      list: () => [...jobs.values()],
      byIndex: () => [],
    },
    waiting: () => keys,
    inadmissibleReasonOf: () => ({ reason: reasonAt(second), message: `short of ${clock.now()}m cpu` }),
    reasonOf: () => reasonAt(second),
    preemptedOf: () => undefined,
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(new Registry()).admission,
  };
  const reporter = createWaitingReporter(deps);
  const stop = new AbortController();
  const running = reporter.run(stop.signal);
  reporter.changed();
  await clock.advance(5_000);
  const first = writes;
  writes = 0;
  for (second = 0; second < 60; second++) {
    reporter.changed();
    await clock.advance(1_000);
  }
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await running;
  return { first, later: writes };
}

const same = () => 'InsufficientQuota' as const;

test('other numbers cost nothing, another reason is told once', async () => {
  // The Jobs of this world never show what they were told, as if the cache were far behind.
  expect(await writesOf(10, same)).toEqual({ first: 10, later: 0 });
  expect(await writesOf(10, (second) => (second < 30 ? 'InsufficientQuota' : 'NoClusterFits'))).toEqual({ first: 10, later: 10 });
});

test('however many wait, two hundred are told in a second', async () => {
  const { first, later } = await writesOf(2_000, same);
  expect(first).toBeLessThanOrEqual(5 * 200);
  expect(later).toBe(2_000 - first);
});
