import { createHash } from 'node:crypto';
import type { WorkerEndpoint } from './worker-access.ts';

/** A token of a ServiceAccount, as it says of itself: all of it is believed without looking at the signature, and decides when to renew, nothing else. */
export type AccountToken = {
  readonly token: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined where it does not say. */
  readonly issuedMs: number | undefined;
  /** Undefined: it never ends. */
  readonly expiryMs: number | undefined;
};

/** Longer ones are not looked into: those that Kubernetes makes take a tenth of it. */
const CHARACTERS_MAX = 16_384;
const SUBJECT = /^system:serviceaccount:([a-z0-9][-a-z0-9]{0,62}):([a-z0-9][-a-z0-9.]{0,252})$/;

/** Undefined for a token of another kind, which only whoever has issued it can renew. */
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
    return {}; // something else with two dots in it
  }
}

/** A token that the manager has had issued, and for which server: it is shown to no other. */
export type RenewedToken = { readonly endpoint: string; readonly token: string };

export const endpointDigest = (endpoint: WorkerEndpoint): string => createHash('sha256').update(JSON.stringify(endpoint)).digest('hex');

/** The key of the Secret beside that of the kubeconfig. */
export const renewedKey = (key: string): string => `${key}.renewed`;
export const renewedText = (renewed: RenewedToken): string => JSON.stringify(renewed);

/** Undefined where there is none, or nothing that could be shown. */
export function readRenewed(text: string | undefined): RenewedToken | undefined {
  if (text === undefined || text.length > 2 * CHARACTERS_MAX) return undefined;
  const { endpoint, token } = renewedIn(text);
  return typeof endpoint === 'string' && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? { endpoint, token } : undefined;
}

/** What stands beside the kubeconfig of that key; the values of `data` are base64. */
export function storedToken(data: Readonly<Record<string, string>> | undefined, key: string): RenewedToken | undefined {
  const encoded = data?.[renewedKey(key)];
  return readRenewed(encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8'));
}

function renewedIn(text: string): { readonly endpoint?: unknown; readonly token?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // somebody has written over it: the token of the kubeconfig counts
  }
}

export type TokenChoice = {
  /** Of the kubeconfig. */
  readonly given: string;
  readonly endpoint: string;
  /** Those that were renewed, in the Secret and in memory. */
  readonly renewed: readonly (RenewedToken | undefined)[];
  /** Those that the cluster has answered 401 to. */
  readonly refused: ReadonlySet<string>;
  readonly nowMs: number;
};

/**
 * The token to use: of the account's own, for this server, that have not ended and were not refused, the one that was issued last. So one that somebody puts into the
 * kubeconfig counts from then on, and an old kubeconfig, as GitOps or a backup brings back, changes nothing. Where all have ended, by a clock that may be wrong, or were
 * refused, it is the last one all the same.
 */
export function chooseToken({ given, endpoint, renewed, refused, nowMs }: TokenChoice): string {
  const own = accountTokenIn(given);
  if (own === undefined) return given;
  const others = renewed.flatMap((each) => (each?.endpoint === endpoint ? (accountTokenIn(each.token) ?? []) : []));
  // Of those of one second the last of `renewed`.
  const candidates = [...others.filter(({ namespace, name }) => namespace === own.namespace && name === own.name).toReversed(), own];
  const worth = ({ token, expiryMs }: AccountToken): number =>
    refused.has(token) ? 0 : expiryMs === undefined || expiryMs > nowMs ? 2 : 1;
  const [best = own] = candidates.toSorted((one, other) => worth(other) - worth(one) || issued(other) - issued(one));
  return best.token;
}

/** One that does not say when it was issued is older than all others. */
const issued = ({ issuedMs = 0 }: AccountToken): number => issuedMs;

/**
 * In how long a token is to be renewed: at half of its life, and at once where it never ends, or is good for far longer than it need be. `lifeMs` is how long a new one is good
 * for. A clock that is behind that of the cluster puts it off by no more than half of that life, counted from when the token was first seen here.
 */
export function renewalInMs({ issuedMs, expiryMs }: AccountToken, nowMs: number, lifeMs: number): number {
  if (expiryMs === undefined) return 0;
  const ownLifeMs = issuedMs === undefined ? lifeMs : expiryMs - issuedMs;
  if (ownLifeMs > 2 * lifeMs) return 0;
  return Math.max(0, Math.min(ownLifeMs / 2, expiryMs - ownLifeMs / 2 - nowMs));
}

/** What to do about a cluster that answers 401. */
export function refusedAdvice(token: string | undefined, cluster: string, nowMs: number): string {
  const join = `run \`switchyard clusters join CONTEXT --name ${cluster}\` again, or put a new token into its kubeconfig`;
  const { expiryMs } = (token === undefined ? undefined : accountTokenIn(token)) ?? {};
  if (expiryMs !== undefined && expiryMs <= nowMs)
    return `its token ended at ${new Date(expiryMs).toISOString()}, and no manager was there to renew it in time: ${join}`;
  return `where its token was revoked or its account made anew, ${join}`;
}
