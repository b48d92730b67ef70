import type { Clock } from './clock.ts';

/**
 * Answers by key, the same asked once at a time. Where there are too many, the owner that has most of them loses the oldest. One that
 * failed is not kept.
 */
export interface KeptAnswers<T> {
  /** `ask` gets what was answered before. */
  of(key: string, ask: (before: T | undefined) => Promise<T>): Promise<T>;
}

export type KeptAnswersOptions<T> = {
  readonly most: number;
  readonly keptMs: (answer: T) => number;
  /** Whose answer it is; undefined for what nobody owns, which goes before all others. */
  readonly ownerOf: (answer: T) => string | undefined;
  readonly clock: Clock;
};

type Kept<T> = { readonly answer: T; readonly untilMs: number; readonly owner: string | undefined };

export function createKeptAnswers<T>({ most, keptMs, ownerOf, clock }: KeptAnswersOptions<T>): KeptAnswers<T> {
  const asking = new Map<string, Promise<T>>();
  const kept = new Map<string, Kept<T>>();
  /** Keys of each owner, the oldest first. */
  const owned = new Map<string | undefined, Set<string>>();

  const drop = (key: string): void => {
    const owner = kept.get(key)?.owner;
    kept.delete(key);
    const keys = owned.get(owner);
    keys?.delete(key);
    if (keys?.size === 0) owned.delete(owner);
  };
  const keep = (key: string, answer: T): void => {
    drop(key);
    const owner = ownerOf(answer);
    kept.set(key, { answer, untilMs: clock.now() + keptMs(answer), owner });
    owned.set(owner, (owned.get(owner) ?? new Set()).add(key));
    if (kept.size <= most) return;
    const [oldest] = owned.get(undefined) ?? [...owned.values()].reduce((a, b) => (b.size > a.size ? b : a));
    if (oldest !== undefined) drop(oldest);
  };

  return {
    async of(key, ask) {
      const known = kept.get(key);
      if (known !== undefined && clock.now() < known.untilMs) return known.answer;
      const inFlight = asking.get(key);
      if (inFlight !== undefined) return inFlight;
      const question = ask(known?.answer);
      asking.set(key, question);
      try {
        const answer = await question;
        keep(key, answer);
        return answer;
      } finally {
        asking.delete(key);
      }
    },
  };
}
