import { createHash } from 'node:crypto';
import type { WorkerEndpoint } from './worker-access.ts';

/**
 * A ServiceAccount token with its own claims. The claims are read without a check of the signature, because they decide when to renew the
 * token, and nothing else.
 */
export type AccountToken = {
  readonly token: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined where the token has no `iat`. */
  readonly issuedMs: number | undefined;
  /** Undefined: the token does not expire. */
  readonly expiryMs: number | undefined;
};

/** Longer tokens are not parsed: tokens of Kubernetes have a tenth of this length. */
const CHARACTERS_MAX = 16_384;
const SUBJECT = /^system:serviceaccount:([a-z0-9][-a-z0-9]{0,62}):([a-z0-9][-a-z0-9.]{0,252})$/;

/** Undefined for a token of another kind, which only its issuer can renew. */
export function accountTokenIn(token: string): AccountToken | undefined {
  const parts = token.split('.', 4);
  if (token.length > CHARACTERS_MAX || parts.length !== 3) return undefined;
  const { sub, iat, exp } = claimsIn(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'));
  const [, namespace, name] = (typeof sub === 'string' && SUBJECT.exec(sub)) || [];
  if (namespace === undefined || name === undefined) return undefined;
  return { token, namespace, name, issuedMs: millisOf(iat), expiryMs: millisOf(exp) };
}

const millisOf = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;

function claimsIn(json: string): { readonly sub?: unknown; readonly iat?: unknown; readonly exp?: unknown } {
  try {
    const claims: unknown = JSON.parse(json);
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {}; // Another text with two dots.
  }
}

/** A token that was issued for the manager, and the server that issued it: the token is sent to no other server. */
export type RenewedToken = { readonly endpoint: string; readonly token: string };

export const endpointDigest = (endpoint: WorkerEndpoint): string => createHash('sha256').update(JSON.stringify(endpoint)).digest('hex');

/** The key in the Secret next to that of the kubeconfig. */
export const renewedKey = (key: string): string => `${key}.renewed`;
export const renewedText = (renewed: RenewedToken): string => JSON.stringify(renewed);

/** Undefined where there is no renewed token, or the text is malformed. */
export function readRenewed(text: string | undefined): RenewedToken | undefined {
  if (text === undefined || text.length > 2 * CHARACTERS_MAX) return undefined;
  const { endpoint, token } = renewedIn(text);
  return typeof endpoint === 'string' && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? { endpoint, token } : undefined;
}

/** The renewed token of that kubeconfig key; the values of `data` are base64. */
export function storedToken(data: Readonly<Record<string, string>> | undefined, key: string): RenewedToken | undefined {
  const encoded = data?.[renewedKey(key)];
  return readRenewed(encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8'));
}

function renewedIn(text: string): { readonly endpoint?: unknown; readonly token?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // The text was overwritten: the token of the kubeconfig is used.
  }
}

export type TokenChoice = {
  /** The token of the kubeconfig. */
  readonly given: string;
  readonly endpoint: string;
  /** The renewed tokens of the Secret and of memory. */
  readonly renewed: readonly (RenewedToken | undefined)[];
  /** Tokens that the cluster has answered with 401. */
  readonly refused: ReadonlySet<string>;
  readonly nowMs: number;
};

/**
 * The token to use. Of the tokens of the same account and server that have not expired and were not refused, the last issued wins. A new
 * token in the kubeconfig is thus used at once, while an old kubeconfig, restored by GitOps or a backup, changes nothing. Where every token
 * has expired, by a clock that may be wrong, or was refused, the last issued is used all the same.
 */
export function chooseToken({ given, endpoint, renewed, refused, nowMs }: TokenChoice): string {
  const own = accountTokenIn(given);
  if (own === undefined) return given;
  const others = renewed.flatMap((each) => (each?.endpoint === endpoint ? (accountTokenIn(each.token) ?? []) : []));
  // Of tokens issued in the same second the last of `renewed` wins.
  const candidates = [...others.filter(({ namespace, name }) => namespace === own.namespace && name === own.name).toReversed(), own];
  const worth = ({ token, expiryMs }: AccountToken): number =>
    refused.has(token) ? 0 : expiryMs === undefined || expiryMs > nowMs ? 2 : 1;
  const [best = own] = candidates.toSorted((one, other) => worth(other) - worth(one) || issued(other) - issued(one));
  return best.token;
}

/** A token without `iat` counts as the oldest. */
const issued = ({ issuedMs = 0 }: AccountToken): number => issuedMs;

/**
 * Milliseconds until a token is to be renewed: at half of its life; at once where it does not expire, or lives far longer than needed.
 * `lifeMs` is the life of a new token. A clock behind that of the cluster delays the renewal by at most half of that life from when the
 * token was first seen.
 */
export function renewalInMs({ issuedMs, expiryMs }: AccountToken, nowMs: number, lifeMs: number): number {
  if (expiryMs === undefined) return 0;
  const ownLifeMs = issuedMs === undefined ? lifeMs : expiryMs - issuedMs;
  if (ownLifeMs > 2 * lifeMs) return 0;
  return Math.max(0, Math.min(ownLifeMs / 2, expiryMs - ownLifeMs / 2 - nowMs));
}

/** The remedy for a cluster that answers with 401. */
export function refusedAdvice(token: string | undefined, cluster: string, nowMs: number): string {
  const join = `run \`switchyard clusters join CONTEXT --name ${cluster}\` again, or put a new token into its kubeconfig`;
  const { expiryMs } = (token === undefined ? undefined : accountTokenIn(token)) ?? {};
  if (expiryMs !== undefined && expiryMs <= nowMs)
    return `its token ended at ${new Date(expiryMs).toISOString()}, and no manager was there to renew it in time: ${join}`;
  return `where its token was revoked or its account made anew, ${join}`;
}
