import { expect, test } from 'vitest';
import { deletedSpans, jobSpans, type Instants } from '../../../../manager/story/job-spans.ts';
import type { SeenJob } from '../../../../manager/story/story-events.ts';
import { jobTrace } from '../../../../shared/api/job-trace.ts';
import type { Job, JobCondition } from '../../../../shared/api/kubernetes.ts';
import { SUBMITTED_AT_ANNOTATION, TRACEPARENT_ANNOTATION } from '../../../../shared/api/names.ts';
import type { Span } from '../../../../shared/runtime/span.ts';
import { aHomeJob, aRecord } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const ms = (second: number): number => Date.UTC(2026, 0, 1, 0, 0, second);
/** Nobody has seen anything earlier, or better than to the second. */
const ON_THE_WIRE: Instants = { ended: (_, wireMs) => wireMs, began: (_, wireMs) => wireMs };
const condition = (type: string, status: 'True' | 'False', second: number, message = '', reason = ''): JobCondition => ({
  type,
  status,
  message,
  reason,
  lastTransitionTime: at(second),
});
const record = { ...aRecord(), cluster: 'east', clusterQueue: 'research', since: at(12) };

const seen = (parts: {
  record?: SeenJob['record'];
  conditions?: JobCondition[];
  status?: Job['status'];
  annotations?: Record<string, string>;
}): SeenJob => ({
  kind: JOB_KIND,
  job: aHomeJob({
    metadata: { creationTimestamp: at(2), annotations: parts.annotations ?? {} },
    spec: { suspend: parts.record === undefined || parts.record.evicted === true },
    status: { ...parts.status, conditions: parts.conditions ?? [] },
  }),
  record: parts.record,
});
const spansOf = (before: SeenJob, after: SeenJob, ratio = 1): readonly Span[] => jobSpans(before, after, ratio, ON_THE_WIRE);
const told = (spans: readonly Span[]): readonly string[] =>
  spans.map(
    ({ name, startMs, endMs, error }) =>
      `${name} ${startMs / 1000 - ms(0) / 1000}-${endMs / 1000 - ms(0) / 1000}${error === undefined ? '' : ` ${error}`}`,
  );

const SUBMITTED = { [SUBMITTED_AT_ANNOTATION]: String(ms(1)) };
const DISPATCHED = condition('Dispatched', 'True', 14, 'dispatched to cluster "east" (placement 1)');
const STARTED = condition('Started', 'True', 17, 'started on cluster "east" (placement 1)');
const LIFE: readonly SeenJob[] = [
  seen({ annotations: SUBMITTED }),
  seen({ annotations: SUBMITTED, record }),
  seen({ annotations: SUBMITTED, record, conditions: [DISPATCHED] }),
  seen({ annotations: SUBMITTED, record, conditions: [DISPATCHED, STARTED] }),
  seen({
    annotations: SUBMITTED,
    record,
    conditions: [DISPATCHED, STARTED, condition('Complete', 'True', 40)],
    status: { succeeded: 1, completionTime: at(40) },
  }),
];
const life = (states: readonly SeenJob[]): readonly Span[] => states.slice(1).flatMap((after, k) => spansOf(states[k] ?? after, after));

test('the whole life of a Job is one trace: each part once, one after the other, within that of the Job', () => {
  const spans = life(LIFE);
  expect(told(spans)).toEqual(['submit 1-2', 'queued 2-12', 'admitted 12-14', 'dispatched 14-17', 'pods 17-40', 'home 40-40', 'job 1-40']);
  const { traceId, spanId } = jobTrace(aHomeJob());
  expect(new Set(spans.map((each) => each.traceId))).toEqual(new Set([traceId]));
  expect(new Set(spans.map((each) => each.spanId)).size).toBe(spans.length);
  for (const span of spans) expect(span.parentSpanId).toBe(span.name === 'job' ? undefined : spanId);
  expect(spans.at(-1)?.attributes).toMatchObject({ 'switchyard.cluster': 'east', 'switchyard.pods.succeeded': 1, 'k8s.job.name': 'sum' });
});

test('states that say nothing new end nothing', () => {
  for (const state of LIFE) expect(spansOf(state, state)).toEqual([]);
});

test('whoever sees the rest of a life tells the rest, with the ids that the one before would have given', () => {
  const [first, ...others] = [life(LIFE), life(LIFE.slice(2))];
  for (const span of others[0] ?? []) expect(first).toContainEqual(span);
});

test('a Job that is seen only when all is over is told in one go', () => {
  const [first, last] = [LIFE[0], LIFE.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a life');
  expect(told(spansOf(first, last)).map((each) => each.split(' ')[0])).toEqual([
    'submit',
    'queued',
    'admitted',
    'dispatched',
    'pods',
    'home',
    'job',
  ]);
});

test('the span of a Job lies in that of its submitter', () => {
  const annotations = { [TRACEPARENT_ANNOTATION]: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const [submit, queued] = spansOf(seen({ annotations }), seen({ annotations, record }));
  expect(submit?.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  const [whole] = deletedSpans(seen({ annotations }), 0, ON_THE_WIRE, ms(50));
  expect(whole).toMatchObject({ name: 'job', parentSpanId: 'b7ad6b7169203331', error: 'deleted before it had ended' });
  expect(queued?.parentSpanId).toBe(whole?.spanId);
});

test('what is not sampled is not told', () => {
  expect(spansOf(seen({}), seen({ record }), 0)).toEqual([]);
  expect(deletedSpans(seen({ record }), 0, ON_THE_WIRE, ms(50))).toEqual([]);
  const annotations = { [TRACEPARENT_ANNOTATION]: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' };
  expect(spansOf(seen({ annotations }), seen({ annotations, record }))).toEqual([]);
});

test.each(['in a year', '1', String(Number.MAX_SAFE_INTEGER), '-5', ''])(
  'a Job that says it was submitted %j is believed from its creation on',
  (said) => {
    const annotations = { [SUBMITTED_AT_ANNOTATION]: said };
    expect(told(spansOf(seen({ annotations }), seen({ annotations, record })))).toEqual(['submit 2-2', 'queued 2-12']);
  },
);

test('pods that an eviction ends have a span that says why, and the Job queues from then on', () => {
  const evicted = seen({
    record: { ...record, evicted: true },
    conditions: [condition('QuotaReserved', 'False', 30, 'for Job x', 'Preempted')],
  });
  expect(told(spansOf(seen({ record, conditions: [DISPATCHED, STARTED] }), evicted))).toEqual(['pods 17-30 Preempted: for Job x']);
  const again = { ...record, since: at(45), epoch: 2 };
  const spans = spansOf(evicted, seen({ record: again }));
  expect(told(spans)).toEqual(['queued 30-45']);
  expect(spans[0]?.spanId).not.toBe(life(LIFE)[1]?.spanId);
});

test('a Job that failed says so in its words, and one whose cluster has a wrong clock ends before it began nowhere', () => {
  const failed = condition('Failed', 'True', 5, 'too many pods', 'BackoffLimitExceeded');
  const spans = spansOf(seen({ record, conditions: [DISPATCHED, STARTED] }), seen({ record, conditions: [DISPATCHED, STARTED, failed] }));
  expect(spans.map(({ name, error }) => [name, error])).toEqual([
    ['pods', 'BackoffLimitExceeded: too many pods'],
    ['home', undefined],
    ['job', 'BackoffLimitExceeded: too many pods'],
  ]);
  for (const { startMs, endMs } of spans) expect(startMs).toBeLessThanOrEqual(endMs);
});

test('a Job that is deleted once it has ended has nothing more to tell', () => {
  expect(deletedSpans(LIFE.at(-1) ?? seen({}), 1, ON_THE_WIRE, ms(50))).toEqual([]);
});
