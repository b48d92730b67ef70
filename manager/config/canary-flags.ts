import { durationMs, FlagError, text, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { durationOrZero, durationShape, shaped } from '../../shared/runtime/value-shape.ts';
import type { CanaryConfig } from '../canary/canary.ts';

const INTERVAL_MIN_MS = 10_000;
const TIMEOUT_MIN_MS = 1_000;
const QUEUE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[/][a-z0-9][-a-z0-9.]*$/;

/** Whether and how canaries go through every cluster. */
export const CANARY_FLAGS = {
  'canary-interval': {
    value: 'DURATION',
    fallback: '0s',
    about: 'so often a tiny Job is sent through every cluster, end to end, and measured (docs/slo.md); 0s: none is',
    parse: shaped(durationOrZero(INTERVAL_MIN_MS), canaryInterval),
  },
  'canary-queue': {
    value: 'NAMESPACE/LOCALQUEUE',
    about: 'the queue of those Jobs; they request nothing, and use quota only where it counts pods',
    parse: shaped({ type: 'string', pattern: QUEUE.source }, canaryQueue),
  },
  'canary-image': { value: 'IMAGE', fallback: 'busybox:1.37', about: 'their image, with a program `true`', parse: text },
  'canary-timeout': {
    value: 'DURATION',
    fallback: '5m',
    about: 'one that has not ended by then has failed',
    parse: shaped(durationShape(TIMEOUT_MIN_MS), canaryTimeout),
  },
} satisfies FlagTable;

/** undefined: there are none. */
export function canaryConfigOf(flags: FlagValues<typeof CANARY_FLAGS>): CanaryConfig | undefined {
  const intervalMs = flags['canary-interval'];
  const queue = flags['canary-queue'];
  if (intervalMs === 0) return undefined;
  if (queue === undefined) throw new FlagError('--canary-interval needs --canary-queue: canaries are Jobs, and wait in a queue as all do');
  return { ...queue, image: flags['canary-image'], intervalMs, timeoutMs: flags['canary-timeout'] };
}

function canaryInterval(given: string): number {
  const intervalMs = given === '0' ? 0 : durationMs(given);
  if (intervalMs === 0 || intervalMs >= INTERVAL_MIN_MS) return intervalMs;
  throw new FlagError(`${JSON.stringify(given)} is less than 10s; write more, such as 5m, or 0s for none`);
}

function canaryTimeout(given: string): number {
  const timeoutMs = durationMs(given);
  if (timeoutMs >= TIMEOUT_MIN_MS) return timeoutMs;
  throw new FlagError(`${JSON.stringify(given)} is less than 1s; no Job ends that soon`);
}

function canaryQueue(given: string): Pick<CanaryConfig, 'namespace' | 'queue'> {
  const [namespace = '', queue = ''] = given.split('/');
  if (QUEUE.test(given)) return { namespace, queue };
  throw new FlagError(`${JSON.stringify(given)} names no LocalQueue; write NAMESPACE/NAME`);
}
