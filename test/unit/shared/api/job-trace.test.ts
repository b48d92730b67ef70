import { expect, test } from 'vitest';
import { contextForPods, isSampled, jobTrace, spanIdOf } from '../../../../shared/api/job-trace.ts';
import { TRACEPARENT_ANNOTATION } from '../../../../shared/api/names.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const job = (uid: string, traceparent?: string) => ({
  metadata: { uid, annotations: traceparent === undefined ? {} : { [TRACEPARENT_ANNOTATION]: traceparent } },
});

test('a Job has a trace by its UID: the same for whoever looks', () => {
  expect(jobTrace(job('a'))).toEqual(jobTrace(job('a')));
  expect(jobTrace(job('a'))).not.toEqual(jobTrace(job('b')));
  expect(jobTrace(job('a'))).toEqual({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
  });
});

test('the trace that its submitter began goes on, within his span', () => {
  expect(jobTrace(job('a', `00-${TRACE}-b7ad6b7169203331-01`))).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
});

test('what is no traceparent means nothing', () => {
  expect(jobTrace(job('a', 'nonsense'))).toEqual(jobTrace(job('a')));
});

test('two Jobs that name the same trace, one by forgery, share no span', () => {
  const given = `00-${TRACE}-b7ad6b7169203331-01`;
  expect(jobTrace(job('mine', given)).spanId).not.toBe(jobTrace(job('his', given)).spanId);
  expect(spanIdOf(TRACE, 'mine', 'queued')).not.toBe(spanIdOf(TRACE, 'his', 'queued'));
});

test('whoever began the trace says whether it is recorded, whatever the ratio', () => {
  expect(isSampled(job('a', `00-${TRACE}-b7ad6b7169203331-01`), 0)).toBe(true);
  expect(isSampled(job('a', `00-${TRACE}-b7ad6b7169203331-00`), 1)).toBe(false);
});

test('of the others as many are recorded as the ratio says', () => {
  const jobs = Array.from({ length: 2_000 }, (_, k) => job(`uid-${k}`));
  const share = (ratio: number): number => jobs.filter((each) => isSampled(each, ratio)).length / jobs.length;
  expect(share(0)).toBe(0);
  expect(share(1)).toBe(1);
  expect(share(0.25)).toBeGreaterThan(0.2);
  expect(share(0.25)).toBeLessThan(0.3);
});

test('pods are told the span of their Job, and without tracing what its submitter said', () => {
  const given = `00-${TRACE}-b7ad6b7169203331-01`;
  expect(contextForPods(job('a', given), 1)).toEqual({ traceId: TRACE, spanId: jobTrace(job('a', given)).spanId, sampled: true });
  expect(contextForPods(job('a', given), undefined)?.spanId).toBe('b7ad6b7169203331');
  expect(contextForPods(job('a'), undefined)).toBeUndefined();
  expect(contextForPods(job('a'), 0)?.sampled).toBe(false);
});
