import { expect, test } from 'vitest';
import { exportRequest, rejectedSpans, retryAfterMs, type Span } from '../../../../shared/runtime/span.ts';

const span: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: 'a7ad6b7169203331',
  name: 'queued',
  startMs: 1_767_225_600_123,
  endMs: 1_767_225_601_456,
  attributes: { text: 'a', whole: 3, part: 0.5, flag: true },
};

test('a span is written as OTLP has it in JSON', () => {
  expect(exportRequest([{ ...span, error: 'Failed: why' }], { 'service.name': 'x', 'service.version': '1.2.3' })).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'x' } },
            { key: 'service.version', value: { stringValue: '1.2.3' } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: 'switchyard', version: '1.2.3' },
            spans: [
              {
                traceId: span.traceId,
                spanId: span.spanId,
                parentSpanId: span.parentSpanId,
                name: 'queued',
                kind: 1,
                startTimeUnixNano: '1767225600123000000',
                endTimeUnixNano: '1767225601456000000',
                attributes: [
                  { key: 'text', value: { stringValue: 'a' } },
                  { key: 'whole', value: { intValue: '3' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                  { key: 'flag', value: { boolValue: true } },
                ],
                status: { code: 2, message: 'Failed: why' },
              },
            ],
          },
        ],
      },
    ],
  });
});

test('long texts are cut, and no span ends before it begins', () => {
  const text = JSON.stringify(exportRequest([{ ...span, endMs: 0, attributes: { long: 'a'.repeat(5_000) } }], {}));
  expect(text.length).toBeLessThan(2_000);
  expect(text).toContain('"endTimeUnixNano":"1767225600123000000"');
});

test('a collector may have taken a part, and answers of others say nothing', () => {
  expect(rejectedSpans('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}')).toBe(3);
  expect(rejectedSpans('{"partialSuccess":{}}')).toBe(0);
  expect(rejectedSpans('')).toBe(0);
  expect(rejectedSpans('<html>')).toBe(0);
  expect(rejectedSpans('{"partialSuccess":{"rejectedSpans":-1}}')).toBe(0);
});

test('Retry-After is in seconds, or a date', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  expect(retryAfterMs('7', nowMs)).toBe(7_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:05 GMT', nowMs)).toBe(5_000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:05 GMT', nowMs)).toBe(0);
  expect(retryAfterMs('soon', nowMs)).toBeUndefined();
  expect(retryAfterMs(null, nowMs)).toBeUndefined();
});
