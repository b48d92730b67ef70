import type { Environment } from '@marcbachmann/cel-js';
import type { DurationValue } from './interpreter-values.ts';

const DURATION = 'google.protobuf.Duration';
const TIMESTAMP = 'google.protobuf.Timestamp';
const NANOS_PER_SECOND = 1_000_000_000n;

/** Conversions and comparisons of CEL that the interpreter lacks. */
export function registerConversionLibrary(environment: Environment): void {
  environment
    .registerFunction(`duration(${DURATION}): ${DURATION}`, (value: DurationValue) => value)
    .registerFunction(`string(${DURATION}): string`, durationText)
    .registerFunction(`int(${DURATION}): int`, ({ seconds, nanos }: DurationValue) => seconds * NANOS_PER_SECOND + BigInt(nanos))
    .registerFunction(`timestamp(${TIMESTAMP}): ${TIMESTAMP}`, (value: Date) => value)
    .registerFunction(`string(${TIMESTAMP}): string`, timestampText)
    .registerFunction(`int(${TIMESTAMP}): int`, (value: Date) => BigInt(Math.floor(value.getTime() / 1000)));
  const comparisons: readonly (readonly [string, (order: number) => boolean])[] = [
    ['<', (order) => order < 0],
    ['<=', (order) => order <= 0],
    ['>', (order) => order > 0],
    ['>=', (order) => order >= 0],
  ];
  for (const [operator, holds] of comparisons) {
    environment.registerOperator(`bytes ${operator} bytes`, (left: Uint8Array, right: Uint8Array) => holds(Buffer.compare(left, right)));
  }
}

export const durationText = ({ seconds, nanos }: DurationValue): string => `${Number(seconds) + nanos / 1e9}s`;

/** RFC 3339 as Go writes it: no more digits of a second than there are. */
export const timestampText = (value: Date): string =>
  value.toISOString().replace(/\.(\d*?)0*Z$/, (_, digits: string) => (digits === '' ? 'Z' : `.${digits}Z`));
