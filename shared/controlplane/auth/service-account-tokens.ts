import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { UserInfo } from './user-info.ts';

/** What a ServiceAccount's token says; the names are those of Kubernetes' bound tokens. */
export type TokenClaims = {
  readonly aud: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly sub: string;
  readonly 'kubernetes.io': { readonly namespace: string; readonly serviceaccount: { readonly name: string; readonly uid: string } };
};

export interface ServiceAccountTokens {
  issue(claims: TokenClaims): string;
  /** Whose token it is; undefined when it was not issued here, has expired, or its account is gone. */
  userOf(token: string): UserInfo | undefined;
}

/**
 * JSON Web Tokens, signed with a key that only this server knows (HS256: nobody else has to verify them).
 * `uidOf` tells the UID of an account that exists: a token dies with its account.
 */
export function createServiceAccountTokens(
  key: string,
  clock: Clock,
  uidOf: (namespace: string, name: string) => string | undefined,
): ServiceAccountTokens {
  const signatureOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    issue(claims) {
      const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
      return `${text}.${signatureOf(text).toString('base64url')}`;
    },
    userOf(token) {
      const [header, body, signature, ...rest] = token.split('.');
      if (header === undefined || body === undefined || signature === undefined || rest.length > 0) return undefined;
      const given = Buffer.from(signature, 'base64url');
      const wanted = signatureOf(`${header}.${body}`);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      // Signed by us, so the shape is ours.
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims;
      const { namespace, serviceaccount } = claims['kubernetes.io'];
      if (claims.exp * 1000 <= clock.now() || uidOf(namespace, serviceaccount.name) !== serviceaccount.uid) return undefined;
      return {
        name: claims.sub,
        uid: serviceaccount.uid,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] },
      };
    },
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
