/** Many Jobs that wait for texts that change all the time: what it costs to tell them. */
import { expect, test } from 'vitest';
import { createWaitingReporter, type WaitingReporterDeps } from '../../../../manager/admission/waiting-reporter.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** How many status writes `count` Jobs cost in a minute of which every second brings another text. */
async function writesInAMinute(count: number): Promise<number> {
  const clock = new FakeClock();
  const keys = Array.from({ length: count }, (_, index) => `team/job-${index}`);
  const jobs = new Map(keys.map((key, index) => [key, aHomeJob({ metadata: { name: `job-${index}` } })]));
  let writes = 0;
  const deps: WaitingReporterDeps = {
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
    inadmissibleReasonOf: () => ({ reason: 'InsufficientQuota', message: `short of ${clock.now()}m cpu` }),
    preemptedOf: () => undefined,
    clock,
    log: silentLogger,
  };
  const reporter = createWaitingReporter(deps);
  const stop = new AbortController();
  const running = reporter.run(stop.signal);
  await clock.advance(5_000);
  writes = 0;
  for (let second = 0; second < 60; second++) {
    reporter.changed();
    await clock.advance(1_000);
  }
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await running;
  return writes;
}

test('each of a few Jobs is told every ten seconds', async () => {
  expect(await writesInAMinute(10)).toBe(60);
});

test('the more Jobs wait, the less often each is told: fifty texts a second at most', async () => {
  const writes = await writesInAMinute(2_000);
  expect(writes).toBeLessThanOrEqual(60 * 50);
  expect(writes).toBeGreaterThan(0);
});
