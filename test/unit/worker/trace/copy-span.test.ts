import { expect, test } from 'vitest';
import { TRACEPARENT_ANNOTATION } from '../../../../shared/api/names.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { copySpan, traceOfCopy } from '../../../../worker/trace/copy-span.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const job = (status: NonNullable<Job['status']>, traceparent?: string): Job => ({
  metadata: {
    name: 'pi',
    namespace: 'team',
    uid: 'copy',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: traceparent === undefined ? {} : { [TRACEPARENT_ANNOTATION]: traceparent },
  },
  spec: { template: {} },
  status,
});
const GIVEN = `00-${TRACE}-b7ad6b7169203331-01`;
const ENDED: NonNullable<Job['status']> = {
  startTime: '2026-01-01T00:00:01Z',
  succeeded: 1,
  failed: 2,
  conditions: [
    { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too many', lastTransitionTime: '2026-01-01T00:00:09Z' },
  ],
};

test('a copy that ends gives one span, within that of its Job', () => {
  expect(copySpan(job({}, GIVEN), job(ENDED, GIVEN))).toEqual({
    traceId: TRACE,
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    parentSpanId: 'b7ad6b7169203331',
    name: 'run',
    startMs: Date.UTC(2026, 0, 1, 0, 0, 1),
    endMs: Date.UTC(2026, 0, 1, 0, 0, 9),
    attributes: {
      'k8s.namespace.name': 'team',
      'k8s.job.name': 'pi',
      'k8s.job.uid': 'copy',
      'switchyard.pods.succeeded': 1,
      'switchyard.pods.failed': 2,
    },
    error: 'BackoffLimitExceeded: too many',
  });
});

test('one that had ended before, that is not sampled, or that has no trace gives none', () => {
  expect(copySpan(job(ENDED, GIVEN), job(ENDED, GIVEN))).toBeUndefined();
  expect(copySpan(job({}, GIVEN), job({}, GIVEN))).toBeUndefined();
  expect(copySpan(job({}), job(ENDED, `00-${TRACE}-b7ad6b7169203331-00`))).toBeUndefined();
  expect(copySpan(job({}), job(ENDED))).toBeUndefined();
  expect(copySpan(job({}), job(ENDED, 'forged'))).toBeUndefined();
});

test('the trace of a copy is that of its annotation', () => {
  expect(traceOfCopy(job({}, GIVEN))?.traceId).toBe(TRACE);
  expect(traceOfCopy(job({}))).toBeUndefined();
});
