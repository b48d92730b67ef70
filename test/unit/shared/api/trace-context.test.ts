import { expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent } from '../../../../shared/api/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TEXT = `00-${TRACE}-${SPAN}-01`;

test('a traceparent is read, and written as it was', () => {
  const context = parseTraceparent(TEXT);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
  expect(context && formatTraceparent(context)).toBe(TEXT);
});

test('of the flags only the one for sampled means something', () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.sampled).toBe(false);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.sampled).toBe(false);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.sampled).toBe(true);
});

test('a later version is read as far as it is known, and written in ours', () => {
  const context = parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-holds`);
  expect(context && formatTraceparent(context)).toBe(TEXT);
});

test.each([
  ['nothing', undefined],
  ['no text', 7],
  ['empty', ''],
  ['capitals', TEXT.toUpperCase()],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that there never is', `ff-${TRACE}-${SPAN}-01`],
  ['more than version 00 has', `${TEXT}-more`],
  ['a later version that goes on without a dash', `01-${TRACE}-${SPAN}-01more`],
  ['too short', TEXT.slice(0, -1)],
  ['a line break behind it', `${TEXT}\n`],
  ['a header smuggled in', `${TEXT}\r\nx: y`],
  ['no end', `01-${TRACE}-${SPAN}-01-${'a'.repeat(100_000)}`],
])('%s is no traceparent', (_, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});
