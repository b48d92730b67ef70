/** Longer ones are not looked into: those that Kubernetes makes take a tenth of it. */
const TOKEN_CHARACTERS_MAX = 16_384;

/**
 * When a token says that it expires (`exp` of a JSON Web Token), as epoch milliseconds; undefined for one that does not say. It is believed without
 * looking at the signature: it decides when to look for the next token, nothing else.
 */
export function tokenExpiryMs(token: string): number | undefined {
  const parts = token.split('.', 4);
  if (token.length > TOKEN_CHARACTERS_MAX || parts.length !== 3) return undefined;
  const claims = claimsIn(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'));
  if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
  return typeof claims.exp === 'number' && Number.isFinite(claims.exp) ? claims.exp * 1000 : undefined;
}

function claimsIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Something else with two dots in it.
    return undefined;
  }
}

/** How long before its end a token is to have been replaced: a request on the way and a clock that is a little off. */
const MARGIN_MS = 10_000;

/** How long the Secret of this token may go unread: `usualMs`, less where the token ends before, never less than `leastMs`. */
export function nextLookMs(token: string | undefined, nowMs: number, { usualMs, leastMs }: { usualMs: number; leastMs: number }): number {
  const expiryMs = token === undefined ? undefined : tokenExpiryMs(token);
  if (expiryMs === undefined) return usualMs;
  return Math.max(leastMs, Math.min(usualMs, expiryMs - MARGIN_MS - nowMs));
}
