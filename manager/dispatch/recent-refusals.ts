import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * What clusters have refused a moment ago, by shape of Job. Those of the same shape that were on their way there by then are held back until admission has
 * called them off, so that many of them cost a cluster that refuses them a few requests, and not as many.
 */
export interface RecentRefusals {
  note(cluster: string, shape: string): void;
  /** For how long a Job of this shape that was admitted then is not to be sent to a cluster, in milliseconds; 0: it may be sent. */
  holdMs(cluster: string, shape: string, admittedAt: string): number;
}

/** Thousands may have to be called off, one write each. Whoever is still there after that is sent. */
const HOLD_MS = 60_000;

export function createRecentRefusals(clock: Clock): RecentRefusals {
  const refusals = new Map<string, { readonly atMs: number; readonly untilMs: number }>();
  return {
    note(cluster, shape) {
      const nowMs = clock.monotonic();
      for (const [key, { untilMs }] of refusals) if (untilMs <= nowMs) refusals.delete(key);
      refusals.set(`${cluster} ${shape}`, { atMs: clock.now(), untilMs: nowMs + HOLD_MS });
    },
    holdMs(cluster, shape, admittedAt) {
      const refusal = refusals.get(`${cluster} ${shape}`);
      // Whoever was admitted after that goes there on purpose.
      if (refusal === undefined || (parseWireTime(admittedAt) ?? 0) > refusal.atMs) return 0;
      return Math.max(0, refusal.untilMs - clock.monotonic());
    },
  };
}
