import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from './user-info.ts';

/** What a connection and its headers say about who speaks. */
export type Credentials = {
  /** The Authorization header. */
  readonly authorization?: string;
  /** Of a certificate that the TLS layer has verified. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
};

export interface Authenticator {
  /** Undefined when credentials were given and are wrong: answer 401. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** The user of a bearer token, for TokenReview. */
  userOfToken(token: string): UserInfo | undefined;
}

export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED] };

/**
 * Knows users by their bearer tokens and by client certificates; who brings nothing is anonymous. `issuedTo` knows the tokens
 * that the server itself has issued.
 */
export function createAuthenticator(
  usersByToken: ReadonlyMap<string, UserInfo>,
  issuedTo: (token: string) => UserInfo | undefined = () => undefined,
): Authenticator {
  const known = [...usersByToken].map(([token, user]) => ({ digest: digestOf(token), user: withGroup(user, AUTHENTICATED) }));
  const userOfToken = (token: string): UserInfo | undefined => {
    const digest = digestOf(token);
    const user = known.find((each) => timingSafeEqual(each.digest, digest))?.user ?? issuedTo(token);
    return user && withGroup(user, AUTHENTICATED);
  };
  return {
    userOfToken,
    authenticate: ({ authorization = '', clientCertificate }) => {
      if (clientCertificate !== undefined && clientCertificate.commonName !== '') {
        return withGroup({ name: clientCertificate.commonName, groups: clientCertificate.organizations }, AUTHENTICATED);
      }
      // Anything else, a second space too, is no token at all.
      const bearer = /^bearer (\S+)/i.exec(authorization.trim())?.[1];
      return bearer === undefined ? ANONYMOUS : userOfToken(bearer);
    },
  };
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const withGroup = (user: UserInfo, group: string): UserInfo =>
  user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
