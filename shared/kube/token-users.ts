import type { Clock } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { createKeptAnswers } from '../runtime/kept-answers.ts';
import { userOfToken, type KubeUser } from './access-reviews.ts';
import type { RawClient } from './client.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { digestOf, ownerOf } from './user-identity.ts';

/** Finds out whose tokens these are. Answers are kept: a minute for a token that is good, ten seconds for others. */
export interface TokenUsers {
  /**
   * `address`: where the token comes from; new ones from there wait for one another. Rejects where the API server cannot be asked, or with
   * {@link TooManyNewTokens}.
   */
  of(token: string, address?: string): Promise<KubeUser | undefined>;
}

export type TokenUsersDeps = {
  /** The API server that knows the tokens. Without a rate limit of its own. */
  readonly client: RawClient;
  /** Questions about new tokens of one address: in a second, and at once. */
  readonly newTokens: { readonly qps: number; readonly burst: number };
  readonly clock: Clock;
};

export class TooManyNewTokens extends Error {
  override readonly name = 'TooManyNewTokens';
}

const KEPT_MS = 60_000;
const REFUSED_KEPT_MS = 10_000;
const TOKENS_MAX = 1_024;
const ANSWER_MS = 5_000;
/** New tokens of one address that wait. */
const WAITING_MAX = 32;
/** Each has at least one connection; those that have not asked for longest are forgotten. */
const ADDRESSES_MAX = 1_024;

export function createTokenUsers({ client, newTokens, clock }: TokenUsersDeps): TokenUsers {
  const tokens = createKeptAnswers<KubeUser | undefined>({
    most: TOKENS_MAX,
    keptMs: (user) => (user === undefined ? REFUSED_KEPT_MS : KEPT_MS),
    // However many tokens are tried, those that are good stay known.
    ownerOf: (user) => user && ownerOf(user),
    clock,
  });
  const addresses = new Map<string, { readonly limiter: RateLimiter; waiting: number }>();

  const newTokensOf = (address: string): { readonly limiter: RateLimiter; waiting: number } => {
    const known = addresses.get(address) ?? { limiter: createRateLimiter({ ...newTokens, clock }), waiting: 0 };
    addresses.delete(address);
    addresses.set(address, known);
    const oldest = addresses.size > ADDRESSES_MAX ? addresses.keys().next().value : undefined;
    if (oldest !== undefined) addresses.delete(oldest);
    return known;
  };

  return {
    of: (token, address = '') =>
      tokens.of(digestOf(token), (before) =>
        withDeadline(clock, ANSWER_MS, undefined, async (signal) => {
          if (before === undefined) {
            const from = newTokensOf(address);
            if (from.waiting >= WAITING_MAX) throw new TooManyNewTokens('too many unknown tokens are being looked at; try again later');
            from.waiting++;
            try {
              await from.limiter.acquire(signal);
              return await userOfToken(client, token, signal);
            } finally {
              from.waiting--;
            }
          }
          return userOfToken(client, token, signal);
        }),
      ),
  };
}
