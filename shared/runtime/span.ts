/** A piece of work that is over, as it is told to a collector of traces. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** Instants in epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why it came to nothing. */
  readonly error?: string;
};

/** Longer values say no more, and a collector may refuse them. */
const VALUE_LENGTH_MAX = 1024;
const KIND_INTERNAL = 1;
const STATUS_ERROR = 2;

/**
 * The body of an ExportTraceServiceRequest in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hexadecimal,
 * 64-bit numbers as text, enumerations as numbers.
 */
export function exportRequest(spans: readonly Span[], resource: Span['attributes']): object {
  const { 'service.version': version } = resource;
  const scope = { name: 'switchyard', ...(version === undefined ? {} : { version: String(version) }) };
  return {
    resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(wireSpan) }] }],
  };
}

function wireSpan({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes, error }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error.slice(0, VALUE_LENGTH_MAX) },
  };
}

/** More than a number holds exactly. */
const nanoseconds = (ms: number): string => String(BigInt(Math.max(0, Math.round(ms))) * 1_000_000n);

const attributesOf = (attributes: Span['attributes']): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: wireValue(value) }));

function wireValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value.slice(0, VALUE_LENGTH_MAX) };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** How many spans of a request the collector did not take, by its answer to it; 0 where it says nothing that can be understood. */
export function rejectedSpans(answer: string): number {
  try {
    const { partialSuccess } = JSON.parse(answer) as { readonly partialSuccess?: { readonly rejectedSpans?: unknown } };
    const count = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    // An empty answer is a success, and so is whatever a proxy writes beneath a 200.
    return 0;
  }
}

/** Milliseconds that the header Retry-After asks for: seconds or a date. Undefined where it asks for nothing that can be understood. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
