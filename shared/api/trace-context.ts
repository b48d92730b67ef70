/** What a program is told of the trace that it is part of: W3C Trace Context, https://www.w3.org/TR/trace-context/. */
export type TraceContext = {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** The span that goes on here: 16 hexadecimal digits in lower case, not all zero. */
  readonly spanId: string;
  /** Whoever began the trace records it. */
  readonly sampled: boolean;
};

/** `traceparent` is 55 characters in version 00; a later version may have more, of which nothing is known. */
const LENGTH = 55;
const LENGTH_MAX = 512;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined for whatever is no traceparent: the standard has it ignored, and a trace begun anew. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string' || text.length < LENGTH || text.length > LENGTH_MAX) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = FORM.exec(text) ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** In version 00, which is what everybody reads. */
export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string => `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
