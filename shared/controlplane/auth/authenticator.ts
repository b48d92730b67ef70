import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { UserInfo } from './user-info.ts';

/** What a connection and its headers say about who speaks. */
export type Credentials = {
  /** The Authorization header. */
  readonly authorization?: string;
  /** Of a certificate that the TLS layer has verified. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
};

/** What a bearer token says for certain audiences. */
export type TokenVerdict =
  | { readonly kind: 'known'; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** No token of this server. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly why: string };

export interface Authenticator {
  /** Undefined when credentials were given and are wrong: answer 401. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** Whose bearer token it is, for TokenReview; without audiences for those of the API. */
  reviewToken(token: string, audiences?: readonly string[]): TokenVerdict;
}

export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED] };

/** The audiences of the API itself; tokens that name none are for these. */
export const API_AUDIENCES: readonly string[] = ['https://kubernetes.default.svc'];
/** A token once found good counts as good for this long (the token cache of kube-apiserver). */
const REMEMBERED_MS = 10_000;
const REMEMBERED_MAX = 4096;

/** Tokens that the server itself has issued. */
export type IssuedTokens = { verify(token: string, audiences: readonly string[]): TokenVerdict };

/**
 * Knows users by their bearer tokens, static ones and those issued, and by client certificates; without credentials a user is anonymous.
 */
export function createAuthenticator(usersByToken: ReadonlyMap<string, UserInfo>, clock: Clock, issued: IssuedTokens): Authenticator {
  const known = [...usersByToken].map(([token, user]) => ({ digest: digestOf(token), user: withGroup(user, AUTHENTICATED) }));
  const remembered = new Map<string, { readonly verdict: TokenVerdict; readonly untilMs: number }>();
  const judge = (token: string, digest: Buffer, audiences: readonly string[]): TokenVerdict => {
    const user = known.find((each) => timingSafeEqual(each.digest, digest))?.user;
    if (user !== undefined) {
      const common = API_AUDIENCES.filter((audience) => audiences.includes(audience));
      return common.length === 0 ? { kind: 'unknown' } : { kind: 'known', user, audiences: common };
    }
    const verdict = issued.verify(token, audiences);
    return verdict.kind === 'known' ? { ...verdict, user: withGroup(verdict.user, AUTHENTICATED) } : verdict;
  };
  const reviewToken = (token: string, asked: readonly string[] = []): TokenVerdict => {
    const audiences = asked.length === 0 ? API_AUDIENCES : asked;
    const digest = digestOf(token);
    const key = JSON.stringify([digest.toString('base64url'), audiences]);
    const before = remembered.get(key);
    if (before !== undefined && clock.now() < before.untilMs) return before.verdict;
    remembered.delete(key);
    const verdict = judge(token, digest, audiences);
    if (verdict.kind !== 'known') return verdict;
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(key, { verdict, untilMs: clock.now() + REMEMBERED_MS });
    return verdict;
  };
  return {
    reviewToken,
    authenticate: ({ authorization = '', clientCertificate }) => {
      if (clientCertificate !== undefined && clientCertificate.commonName !== '') {
        return withGroup({ name: clientCertificate.commonName, groups: clientCertificate.organizations }, AUTHENTICATED);
      }
      // Anything else, a second space too, is no token at all.
      const bearer = /^bearer (\S+)/i.exec(authorization.trim())?.[1];
      if (bearer === undefined) return ANONYMOUS;
      const verdict = reviewToken(bearer);
      return verdict.kind === 'known' ? verdict.user : undefined;
    },
  };
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const withGroup = (user: UserInfo, group: string): UserInfo =>
  user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
