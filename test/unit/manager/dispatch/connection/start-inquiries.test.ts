import { expect, test } from 'vitest';
import { createStartInquiries } from '../../../../../manager/dispatch/connection/start-inquiries.ts';
import type { ReadClient } from '../../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

test('a cluster that does not answer is asked ever less often, and that is no error', async () => {
  const clock = new FakeClock();
  const askedMs: number[] = [];
  const told: string[] = [];
  const tell = (level: string) => (): void => void told.push(level);
  const copy = aHomeJob({ spec: { suspend: false }, status: { active: 1, ready: 0 } });
  const client: ReadClient = {
    get: () => Promise.reject(new Error('not asked for')),
    list: () => {
      askedMs.push(clock.monotonic());
      return Promise.reject(new Error('no answer'));
    },
  };
  const inquiries = createStartInquiries({
    kind: JOB_KIND,
    cluster: 'eu-1',
    client,
    clock,
    metrics: { added: () => undefined, got: () => undefined, done: () => undefined, retried: () => undefined },
    log: { ...silentLogger, debug: tell('debug'), warn: tell('warn'), error: tell('error') },
    copyOf: () => copy,
    onAnswer: tell('the Job'),
  });
  const stop = new AbortController();
  const running = inquiries.run(stop.signal);
  inquiries.saw('team/sum', copy);
  await clock.advance(160_000);
  expect(askedMs).toEqual([10_000, 30_000, 70_000, 150_000]);
  expect(told).toEqual(['debug', 'debug', 'debug', 'debug']);
  stop.abort();
  await running;
});
