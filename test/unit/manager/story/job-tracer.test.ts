import { expect, test } from 'vitest';
import { createJobTracer } from '../../../../manager/story/job-tracer.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import type { Span } from '../../../../shared/runtime/span.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob, aRecord } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

function world() {
  const clock = new FakeClock();
  const spans: Span[] = [];
  let record: ReturnType<typeof aRecord> | undefined;
  const tracer = createJobTracer({
    kind: JOB_KIND,
    exporter: { export: (span) => spans.push(span) },
    ratio: 1,
    readRecord: (job) => (JOB_KIND.isSuspended(job) || record === undefined ? { kind: 'None' } : { kind: 'Record', record }),
    clock,
  });
  return { clock, spans, tracer, admit: (next: ReturnType<typeof aRecord>) => (record = next) };
}
const job = (createdMs: number, parts: { suspend: boolean; managedBy?: string }): Job =>
  aHomeJob({ metadata: { creationTimestamp: toWireTime(createdMs) }, spec: parts });

test('what is seen as it happens has the time of the clock, not only the second on the wire', async () => {
  const { clock, spans, tracer, admit } = world();
  tracer.lead(new AbortController().signal);
  const startMs = clock.now();
  await clock.advance(250);
  tracer.handler.added?.(job(startMs, { suspend: true }), false);
  await clock.advance(1_500);
  admit(aRecord({ since: toWireTime(clock.now()) }));
  tracer.handler.updated?.(job(startMs, { suspend: false }), job(startMs, { suspend: true }));
  const queued = spans.find(({ name }) => name === 'queued');
  expect(queued).toMatchObject({ startMs: startMs + 250, endMs: startMs + 1_750 });
});

test('what was seen late has the time on the wire', async () => {
  const { clock, spans, tracer, admit } = world();
  tracer.lead(new AbortController().signal);
  const startMs = clock.now();
  admit(aRecord({ since: toWireTime(startMs + 7_000) }));
  await clock.advance(60_000);
  tracer.handler.added?.(job(startMs, { suspend: true }), false);
  tracer.handler.updated?.(job(startMs, { suspend: false }), job(startMs, { suspend: true }));
  expect(spans.find(({ name }) => name === 'queued')).toMatchObject({ startMs, endMs: startMs + 7_000 });
});

test('only whoever leads tells, and only of Jobs of the manager', () => {
  const { clock, spans, tracer, admit } = world();
  admit(aRecord({ since: toWireTime(clock.now()) }));
  const isAdmitted = (managedBy?: string): void =>
    tracer.handler.updated?.(
      job(clock.now(), { suspend: false, ...(managedBy === undefined ? {} : { managedBy }) }),
      job(clock.now(), { suspend: true, ...(managedBy === undefined ? {} : { managedBy }) }),
    );
  isAdmitted();
  expect(spans).toEqual([]);
  const leading = new AbortController();
  tracer.lead(leading.signal);
  isAdmitted('example.com/other');
  expect(spans).toEqual([]);
  isAdmitted();
  expect(spans.map(({ name }) => name)).toEqual(['submit', 'queued']);
  tracer.handler.deleted?.(job(clock.now(), { suspend: true }), false);
  expect(spans.at(-1)).toMatchObject({ name: 'job', error: 'deleted before it had ended' });
  leading.abort();
  isAdmitted();
  expect(spans).toHaveLength(3);
});
