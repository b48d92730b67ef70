import { FlagError, text, type FlagTable, type FlagValues } from './flags.ts';
import { shaped } from './value-shape.ts';

/** Where spans go, and of how many Jobs. */
/** A URL without user and password. */
const ENDPOINT_PATTERN = '^https?://[^/?#@\\s]+([/?#]\\S*)?$';

export const TRACING_FLAGS = {
  'otlp-endpoint': {
    value: 'URL',
    about:
      'exports one trace per Job there: OTLP over HTTP in JSON, at URL/v1/traces (docs/tracing.md); default: OTEL_EXPORTER_OTLP_ENDPOINT, whose headers are in OTEL_EXPORTER_OTLP_HEADERS; without either none is',
    parse: shaped({ type: 'string', pattern: ENDPOINT_PATTERN }, endpoint),
  },
  'trace-ratio': {
    value: 'RATIO',
    fallback: '1',
    about: 'the part of Jobs that is traced, from 0 to 1; one whose submitter has begun a trace is traced if that is',
    parse: shaped({ type: 'number', minimum: 0, maximum: 1 }, ratio),
  },
} satisfies FlagTable;

export type TracingFlags = { readonly otlpEndpoint: string | undefined; readonly traceRatio: number };
export const tracingFlagsOf = (flags: FlagValues<typeof TRACING_FLAGS>): TracingFlags => ({
  otlpEndpoint: flags['otlp-endpoint'],
  traceRatio: flags['trace-ratio'],
});

export type TraceDestination = {
  /** With its path, to which spans are posted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * By the flag, or else by the variables that every program with OpenTelemetry knows; undefined: nowhere. Throws {@link FlagError} for those
 * that cannot be used.
 */
export function traceDestination(
  flagged: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): TraceDestination | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_SDK_DISABLED: disabled } = environment;
  const headers = headersOf(environment['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] || environment['OTEL_EXPORTER_OTLP_HEADERS']);
  if (flagged !== undefined) return { url: withPath(flagged), headers };
  if (disabled?.toLowerCase() === 'true') return undefined;
  if (exact) return { url: checked('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', exact), headers };
  return base ? { url: withPath(checked('OTEL_EXPORTER_OTLP_ENDPOINT', base)), headers } : undefined;
}

const PATH = '/v1/traces';

function withPath(base: string): string {
  const url = new URL(base);
  if (!url.pathname.endsWith(PATH)) url.pathname = `${url.pathname.replace(/\/$/, '')}${PATH}`;
  return url.href;
}

function checked(name: string, value: string): string {
  try {
    return endpoint(value);
  } catch (error) {
    throw error instanceof FlagError ? new FlagError(`${name}: ${error.message}`, { cause: error }) : error;
  }
}

function endpoint(given: string): string {
  const url = URL.parse(text(given));
  // It may hold a password, so it is not quoted.
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new FlagError('is no URL of a collector; write one such as http://otel-collector.observability:4318');
  if (url.username !== '' || url.password !== '')
    throw new FlagError('has a user or password in its URL; put these into OTEL_EXPORTER_OTLP_HEADERS, such as Authorization=Basic%20...');
  return given;
}

/** `key=value,key=value`, values percent-encoded, as OpenTelemetry has it. */
function headersOf(given: string | undefined): Readonly<Record<string, string>> {
  const wrong = (): FlagError =>
    new FlagError('OTEL_EXPORTER_OTLP_HEADERS: is no list of headers; write NAME=VALUE,NAME=VALUE, values percent-encoded');
  const headers: Record<string, string> = {};
  for (const each of (given ?? '').split(',')) {
    if (each.trim() === '') continue;
    const at = each.indexOf('=');
    const name = each.slice(0, at).trim().toLowerCase();
    if (at < 1 || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw wrong();
    headers[name] = decoded(each.slice(at + 1).trim(), wrong);
  }
  return headers;
}

function decoded(value: string, wrong: () => FlagError): string {
  let read: string;
  try {
    read = decodeURIComponent(value);
  } catch {
    throw wrong();
  }
  // A line break in it would be a header of its own.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(read)) throw wrong();
  return read;
}

function ratio(given: string): number {
  const value = Number(given);
  if (/^[\d.]+(e-?\d+)?$/.test(given) && value >= 0 && value <= 1) return value;
  throw new FlagError(`${JSON.stringify(given)} is no part of all; write a number from 0 to 1, such as 0.1`);
}
