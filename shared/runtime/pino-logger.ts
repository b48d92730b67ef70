import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { LogFields, Logger, LogLevel } from './logger.ts';

/** JSON lines: `level`, `time` (RFC 3339), `message`, and the fields. `stream` defaults to standard output. */
export function createLogger(level: LogLevel, stream?: DestinationStream): Logger {
  const settings = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return wrap(stream === undefined ? pino(settings) : pino(settings, stream));
}

function wrap(target: PinoLogger): Logger {
  return {
    debug: (message, fields) => target.debug(printable(fields), message),
    info: (message, fields) => target.info(printable(fields), message),
    warn: (message, fields) => target.warn(printable(fields), message),
    error: (message, fields) => target.error(printable(fields), message),
    with: (fields) => wrap(target.child(printable(fields))),
  };
}

/** Errors have no enumerable fields; whatever field holds one gets it written out. */
function printable(fields: LogFields = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]));
}

const CAUSES_MAX = 8;

/** Message, stack and chain of causes of an error, as plain data. */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const described: Record<string, unknown> = { name, message };
  if ('code' in error) described.code = error.code;
  if ('reason' in error) described.reason = error.reason;
  if (depth === 0) described.stack = stack;
  if (cause !== undefined && depth < CAUSES_MAX) described.cause = describeError(cause, depth + 1);
  if (error instanceof AggregateError) described.errors = error.errors.slice(0, CAUSES_MAX).map((each) => describeError(each, depth + 1));
  return described;
}
