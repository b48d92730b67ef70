/** Longer tokens are not parsed: tokens of Kubernetes have a tenth of this length. */
const TOKEN_CHARACTERS_MAX = 16_384;

/**
 * The expiry of a token (`exp` of a JSON Web Token), as epoch milliseconds; undefined for a token without one. The signature is not
 * checked, because the expiry decides when to read the next token, and nothing else.
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
    // Another text with two dots.
    return undefined;
  }
}

/** How long before its expiry a token is replaced: covers a request in flight and a small clock difference. */
const MARGIN_MS = 10_000;

/** Milliseconds until the Secret of this token is read again: `usualMs`, less where the token expires before, never less than `leastMs`. */
export function nextLookMs(token: string | undefined, nowMs: number, { usualMs, leastMs }: { usualMs: number; leastMs: number }): number {
  const expiryMs = token === undefined ? undefined : tokenExpiryMs(token);
  if (expiryMs === undefined) return usualMs;
  return Math.max(leastMs, Math.min(usualMs, expiryMs - MARGIN_MS - nowMs));
}
