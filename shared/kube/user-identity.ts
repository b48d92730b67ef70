import { createHash } from 'node:crypto';
import type { KubeUser } from './access-reviews.ts';

/**
 * The owner that limits count: a user by name, a ServiceAccount by its namespace (named as the group of its accounts). Tokens come without
 * end to everybody who has an account, and accounts to everybody who may create them in a namespace.
 */
export function ownerOf({ username }: KubeUser): string {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? [];
  return namespace === undefined ? username : `system:serviceaccounts:${namespace}`;
}

/** An API server names the token itself there, another one for each (KEP-4193). */
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/**
 * The user without the token: the same for all tokens of one user that may do the same. What else stands in `extra` may restrict a token,
 * as scopes do.
 */
export function withoutCredential({ username, uid, groups, extra }: KubeUser): KubeUser {
  const { [CREDENTIAL_ID]: _credential, ...others } = extra ?? {};
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(Object.keys(others).length === 0 ? {} : { extra: others }),
  };
}

/** A digest: tokens themselves are not kept. */
export const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');
