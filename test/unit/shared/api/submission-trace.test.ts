import { expect, test } from 'vitest';
import { payloadHash } from '../../../../shared/api/payload-hash.ts';
import { submittedTraceparent } from '../../../../shared/api/submission-trace.ts';

const ONE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const OTHER = '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a trace is found beside the manifest, or where the telemetry of BullMQ puts it; the former counts more', () => {
  expect(submittedTraceparent({ manifest: {}, traceparent: ONE }, undefined)).toBe(ONE);
  expect(submittedTraceparent({ manifest: {} }, JSON.stringify({ traceparent: OTHER, tracestate: 'a=b' }))).toBe(OTHER);
  expect(submittedTraceparent({ manifest: {}, traceparent: ONE }, JSON.stringify({ traceparent: OTHER }))).toBe(ONE);
});

test.each([
  ['text', 'manifest'],
  ['null', null],
  ['one that is none', { traceparent: 'x' }],
  ['an object', { traceparent: { length: 55 } }],
])('data with %s hold none, and telemetry of others neither', (_, data) => {
  expect(submittedTraceparent(data, '{"b3":"1"}')).toBeUndefined();
  expect(submittedTraceparent(data, '{{{')).toBeUndefined();
  expect(submittedTraceparent(data, 'null')).toBeUndefined();
  expect(submittedTraceparent(data, `{"traceparent":"${ONE}","more":"${'a'.repeat(10_000)}"}`)).toBeUndefined();
});

test('the same under another trace is the same submission', () => {
  const manifest = { kind: 'Job' };
  expect(payloadHash({ manifest, traceparent: ONE })).toBe(payloadHash({ manifest }));
  expect(payloadHash({ manifest, traceparent: ONE })).toBe(payloadHash({ manifest, traceparent: OTHER }));
});
