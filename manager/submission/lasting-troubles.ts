import type { RedisTrouble } from './redis-health.ts';

/** Troubles as they are told to people: at once when they come, and for as long as they have not stayed away. */
export interface LastingTroubles {
  /** What is to be told, when this is what was seen just now; undefined: nobody has looked yet. */
  seen(now: readonly RedisTrouble[] | undefined, nowMs: number): readonly RedisTrouble[] | undefined;
}

/** A trouble that comes and goes is one. */
const OVER_AFTER_MS = 60_000;

/** A Redis that flaps would have the status of every queue written each time. */
export function createLastingTroubles(): LastingTroubles {
  const latest = new Map<string, { readonly trouble: RedisTrouble; readonly atMs: number }>();
  return {
    seen(now, nowMs) {
      if (now === undefined) return undefined;
      for (const [reason, { atMs }] of latest) if (nowMs - atMs >= OVER_AFTER_MS) latest.delete(reason);
      // The words of one may change with each look, such as which of two addresses refused.
      for (const trouble of now) latest.set(trouble.reason, { trouble: latest.get(trouble.reason)?.trouble ?? trouble, atMs: nowMs });
      return [...latest.values()].map(({ trouble }) => trouble).toSorted((a, b) => Number(a.works) - Number(b.works));
    },
  };
}
