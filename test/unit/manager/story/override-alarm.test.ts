import { expect, test } from 'vitest';
import { Registry } from 'prom-client';
import { withAct } from '../../../../manager/api/job-acts.ts';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { createOverrideAlarm } from '../../../../manager/story/override-alarm.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION } from '../../../../shared/api/names.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const after = (job: Job, what: 'Override' | 'Hold', user: string): Job =>
  aHomeJob({ metadata: { annotations: { [ACTS_ANNOTATION]: withAct(job, { what, user }, NOW_MS) } } });
const overridden = (user: string, job: Job = aHomeJob()): Job => after(job, 'Override', user);

test('an override is told once, by the leader, in an Event, the log and the metric', async () => {
  const [told, lines]: [string[], string[]] = [[], []];
  const metrics = createManagerMetrics(new Registry());
  const { handler, lead } = createOverrideAlarm({
    kind: JOB_KIND,
    events: {
      event: (_resource, _job, type, reason, message) => told.push(`${type} ${reason} ${message}`),
      flush: () => Promise.resolve(),
    },
    metrics: metrics.story,
    log: { ...silentLogger, warn: (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`) },
  });
  const count = async (): Promise<number | undefined> => (await metrics.story.overrides.get()).values[0]?.value;
  handler.updated?.(overridden('before'), aHomeJob());
  const leading = new AbortController();
  lead(leading.signal);
  handler.added?.(overridden('earlier'), true);
  expect([told, await count()]).toEqual([[], 0]);

  const once = overridden('ann');
  handler.updated?.(once, aHomeJob());
  handler.updated?.(once, once);
  handler.updated?.(after(once, 'Hold', 'bob'), once);
  expect(told).toEqual([
    'Warning Overridden overridden by ann at 2026-01-01T00:00:00Z: as field manager switchyard-override, past the rules of who may write what',
  ]);
  handler.added?.(overridden('eve'), false);
  expect([told.length, await count(), lines.length]).toEqual([2, 2, 2]);
  expect(lines[1]).toContain('"user":"eve"');

  leading.abort();
  handler.updated?.(overridden('after'), aHomeJob());
  expect(told).toHaveLength(2);
});
