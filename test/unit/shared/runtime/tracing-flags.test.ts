import { expect, test } from 'vitest';
import { FlagError } from '../../../../shared/runtime/flags.ts';
import { traceDestination, TRACING_FLAGS } from '../../../../shared/runtime/tracing-flags.ts';

test('nothing is exported unless somebody says where to', () => {
  expect(traceDestination(undefined, {})).toBeUndefined();
  expect(traceDestination(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined();
});

test('the flag counts more than the variables, and the path is added where it is missing', () => {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b:4318', OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team=a' };
  const headers = { authorization: 'Bearer abc', 'x-team': 'a' };
  expect(traceDestination('http://a:4318', variables)).toEqual({ url: 'http://a:4318/v1/traces', headers });
  expect(traceDestination(undefined, variables)).toEqual({ url: 'http://b:4318/v1/traces', headers });
  expect(traceDestination('https://a/otlp/', {})?.url).toBe('https://a/otlp/v1/traces');
  expect(traceDestination('https://a/v1/traces', {})?.url).toBe('https://a/v1/traces');
  const exact = { ...variables, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/here' };
  expect(traceDestination(undefined, exact)?.url).toBe('http://c/here');
});

test('the variable by which OpenTelemetry is turned off turns off what other variables turn on', () => {
  const off = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b:4318' };
  expect(traceDestination(undefined, off)).toBeUndefined();
  expect(traceDestination('http://a:4318', off)?.url).toBe('http://a:4318/v1/traces');
});

test.each(['nowhere', 'ftp://a', 'http://', 'http://user:secret@a:4318'])('%s is no endpoint, and is not quoted', (given) => {
  const refused = (): unknown => TRACING_FLAGS['otlp-endpoint'].parse(given);
  expect(refused).toThrow(FlagError);
  expect(refused).not.toThrow(/secret/);
  expect(() => traceDestination(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: given })).toThrow(/^OTEL_EXPORTER_OTLP_ENDPOINT: /);
});

test.each(['no', '=x', 'a b=c', 'a=%zz', 'a=b%0d%0ax: y'])('%s are no headers', (headers) => {
  expect(() => traceDestination('http://a', { OTEL_EXPORTER_OTLP_HEADERS: headers })).toThrow(FlagError);
});

test('a ratio is a part of all', () => {
  expect(TRACING_FLAGS['trace-ratio'].parse('0.25')).toBe(0.25);
  expect(TRACING_FLAGS['trace-ratio'].parse('1e-3')).toBe(0.001);
  for (const wrong of ['', '-1', '1.1', '1e3', '0x1', '.', 'half'])
    expect(() => TRACING_FLAGS['trace-ratio'].parse(wrong)).toThrow(FlagError);
});
