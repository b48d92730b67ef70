/** A sign-in that failed. The message is for the user: a sentence with the remedy, and no token. */
export class SignInProblem extends Error {
  override readonly name = 'SignInProblem';
  /** For the log: the code of the error, such as `access_denied`. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** What the library reports of a failure, in any of its errors. */
type Reported = {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
  readonly cause?: Reported & { readonly claim?: unknown; readonly claims?: { readonly iat?: unknown }; readonly now?: unknown };
};

const DESCRIPTION_LENGTH_MAX = 200;
const CLOCKS = 'compare the clock of the manager with that of the provider';

/** Turns an error of the OIDC library into words. Nothing of a token, code or secret goes into them. */
export function signInProblem(error: unknown, provider: string): SignInProblem {
  if (error instanceof SignInProblem) return error;
  const reported: Reported = typeof error === 'object' && error !== null ? error : {};
  const code = text(reported.error) ?? text(reported.code) ?? text(reported.cause?.code) ?? 'unknown';
  return new SignInProblem(words(reported, provider, code), code);
}

function words(reported: Reported, provider: string, code: string): string {
  const { error, cause } = reported;
  if (error !== undefined) return refusalWords(code, described(reported.error_description), provider);
  switch (code) {
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return timeWords(cause?.cause);
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return claimWords(text(cause?.cause?.claim));
    case 'OAUTH_KEY_SELECTION_FAILED':
      return 'The ID token is signed with a key that the provider does not publish: try again in a minute, as it may have changed its keys.';
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return 'The ID token is signed in a way that is not accepted: have the provider sign with RS256 or ES256.';
    case 'OAUTH_INVALID_RESPONSE':
      return invalidWords(text(cause?.message) ?? '', provider);
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return 'The provider gives itself another issuer than --dashboard-oidc-issuer-url: write the issuer as the provider does.';
    case 'OAUTH_MISSING_SERVER_METADATA':
    case 'OAUTH_INVALID_SERVER_METADATA':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
    case 'OAUTH_PARSE_ERROR':
      return `${provider} does not answer as an OpenID provider does: check --dashboard-oidc-issuer-url.`;
    default:
      return `${provider} cannot be reached from the manager (${code}): try again, and check --dashboard-oidc-issuer-url, --dashboard-oidc-ca-file and the network policy.`;
  }
}

/** The provider refuses, at its page or at its token endpoint (RFC 6749, 4.1.2.1 and 5.2). */
function refusalWords(code: string, description: string, provider: string): string {
  switch (code) {
    case 'access_denied':
      return `${provider} did not let you in${description}: ask its administrator for access to this application.`;
    case 'invalid_client':
    case 'unauthorized_client':
      return `${provider} does not accept this application${description}: check --dashboard-oidc-client-id and its secret.`;
    case 'invalid_scope':
      return `${provider} does not know a scope${description}: set --dashboard-oidc-scopes.`;
    case 'invalid_grant':
      return `This sign-in has been used already, or took too long${description}: sign in again.`;
    default:
      return `${provider} refused the sign-in: ${code}${description}. Sign in again, or ask its administrator.`;
  }
}

function timeWords(details: Reported['cause']): string {
  return details?.claim === 'nbf'
    ? `The ID token is not valid yet: ${CLOCKS}.`
    : `The ID token has expired already: sign in again. If this repeats, ${CLOCKS}.`;
}

function claimWords(claim: string | undefined): string {
  switch (claim) {
    case 'aud':
    case 'azp':
      return 'The ID token is for another application: check --dashboard-oidc-client-id.';
    case 'iss':
      return 'The ID token is from another issuer: check --dashboard-oidc-issuer-url.';
    default:
      return 'The ID token belongs to another sign-in: sign in again.';
  }
}

function invalidWords(message: string, provider: string): string {
  if (message.includes('"state"')) return 'The answer belongs to another sign-in of this browser: sign in again.';
  if (message.includes('"iss"')) return `The answer does not come from ${provider}: sign in again, and report it if this repeats.`;
  if (message.includes('"alg"')) return 'The ID token is signed in a way that is not accepted: have the provider sign with RS256 or ES256.';
  if (message.includes('signature')) return 'The signature of the ID token is wrong: report this to whoever runs the provider.';
  if (message.includes('"id_token"')) return 'The provider sent no ID token: register the dashboard there as a client of OpenID Connect.';
  return `${provider} sent an answer that is not valid: sign in again, and report it if this repeats.`;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && /^[\x20-\x7e]{1,200}$/.test(value) ? value : undefined);

/** The provider may write anything: it is shown as a quotation, in part, and as text alone. */
function described(description: unknown): string {
  if (typeof description !== 'string' || description.trim() === '') return '';
  const shown = description.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
  return ` (${JSON.stringify(shown.slice(0, DESCRIPTION_LENGTH_MAX))})`;
}
