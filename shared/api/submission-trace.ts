import { formatTraceparent, parseTraceparent } from './trace-context.ts';

/**
 * The trace that whoever submitted something has begun, as `traceparent`: beside the manifest, or where BullMQ's telemetry puts it
 * (`opts.telemetry.metadata`, JSON with `traceparent` in it). Undefined where neither holds one; nobody is refused for that.
 */
export function submittedTraceparent(data: unknown, telemetryMetadata: unknown): string | undefined {
  const context = parseTraceparent(fieldOf(data)) ?? parseTraceparent(fieldOf(carrierIn(telemetryMetadata)));
  return context && formatTraceparent(context);
}

const fieldOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'traceparent' in value ? value.traceparent : undefined;

/** Others may write whatever they like there. */
const METADATA_LENGTH_MAX = 8 * 1024;

function carrierIn(metadata: unknown): unknown {
  if (typeof metadata !== 'string' || metadata.length > METADATA_LENGTH_MAX) return undefined;
  try {
    return JSON.parse(metadata) as unknown;
  } catch {
    // Of another propagator: nothing that is known here.
    return undefined;
  }
}
