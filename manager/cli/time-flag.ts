import { parseWireTime } from '../../shared/api/wire-time.ts';
import { FlagError } from '../../shared/runtime/flags.ts';

/** Epoch milliseconds of a flag: a day, which is its beginning in UTC, or a time. Throws FlagError. */
export function timeMs(given: string): number {
  const ms = parseWireTime(/^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00:00Z` : given);
  if (ms === undefined) throw new FlagError('is no time; write 2026-01-31 or 2026-01-31T12:00:00Z');
  return ms;
}
