import { note, ok, wrong, type Check } from '../checks.ts';
import { thresholdOf } from './alerts.ts';

/** What ends at a time that it says itself. */

const DAY_MS = 86_400_000;
const SOON_MS = thresholdOf('SwitchyardCertificateExpiring', 'days', 7) * DAY_MS;

/** `notAfterMs` of each certificate that is trusted for the webhooks: as long as one holds, another may end. */
export function judgeCertificates(notAfterMs: readonly number[], nowMs: number): Check[] {
  if (notAfterMs.length === 0) return [];
  const endsMs = Math.max(...notAfterMs);
  const check = 'webhook certificate';
  const remedy = 'look at who issues it (values webhook.tls); helm upgrade makes one where the chart does';
  if (endsMs <= nowMs)
    return [wrong(check, `it ended ${day(endsMs)}: no Job with a queue can be created`, remedy, 'SwitchyardCertificateExpiring')];
  if (endsMs - nowMs < SOON_MS) return [wrong(check, `it ends ${day(endsMs)}`, remedy, 'SwitchyardCertificateExpiring')];
  return [ok(check, `ends ${day(endsMs)}`)];
}

export type TokenLife = { readonly cluster: string; readonly issuedMs: number; readonly endsMs: number };

/** Tokens in kubeconfig Secrets. One that lives for hours is renewed by whoever gave it so short a life, late in its life. */
export function judgeTokens(tokens: readonly TokenLife[], nowMs: number): Check[] {
  return tokens.flatMap(({ cluster, issuedMs, endsMs }) => {
    const check = `token ${cluster}`;
    const remedy = `switchyard clusters join CONTEXT --name ${cluster} renews it`;
    if (endsMs <= nowMs)
      return [wrong(check, `it ended ${day(endsMs)}: the manager cannot reach the cluster`, remedy, 'SwitchyardTokenExpiring')];
    if (endsMs - nowMs < Math.min(SOON_MS, (endsMs - issuedMs) / 10))
      return [note(check, `it ends ${day(endsMs)}`, remedy, 'SwitchyardTokenExpiring')];
    return [];
  });
}

/** `iat` and `exp` of a JSON Web Token; undefined for a token of another kind, or one that never ends. */
export function tokenLife(token: string): Omit<TokenLife, 'cluster'> | undefined {
  try {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      iat?: unknown;
      exp?: unknown;
    };
    return typeof iat === 'number' && typeof exp === 'number' ? { issuedMs: iat * 1000, endsMs: exp * 1000 } : undefined;
  } catch {
    return undefined; // no JSON Web Token
  }
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
