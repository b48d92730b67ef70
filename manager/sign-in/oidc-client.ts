import type * as Oidc from 'openid-client';
import type { ClientAuth, Configuration } from 'openid-client';
import { Agent, fetch as fetchFrom } from 'undici';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Claims } from './oidc-user.ts';
import { SignInProblem, signInProblem } from './sign-in-problem.ts';

export type OidcSettings = {
  /** As the provider writes it in its tokens. */
  readonly issuer: string;
  /** The name of the provider, for users. */
  readonly name: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: string;
  /** Absent: what the dashboard needs. */
  readonly scopes?: readonly string[];
  /** Whether groups are wanted: some providers send them for a scope of their own. */
  readonly needsGroups: boolean;
  /** PEM of the authorities of the issuer; absent: those of Node. */
  readonly ca?: string;
  readonly redirectUri: string;
};

/** The secrets of one sign-in, which its browser keeps until the provider answers. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly verifier: string };

export type SignedIn = {
  readonly idToken: string;
  /** Of the verified ID token. */
  readonly claims: Claims & { readonly exp: number; readonly sub: string };
  readonly refreshToken?: string;
};

/**
 * The authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 7636). Its functions reject with
 * {@link SignInProblem}.
 */
export interface OidcClient {
  authorizationUrl(): Promise<SignInSecrets & { readonly url: string }>;
  /** Exchanges the code in the query of the callback, and verifies the ID token. */
  redeem(query: URLSearchParams, secrets: SignInSecrets): Promise<SignedIn>;
  /** `subject`: the user of the session, whom the new ID token must name. */
  refresh(refreshToken: string, subject: string): Promise<SignedIn>;
  close(): Promise<void>;
}

const ANSWER_SECONDS = 10;
const ANSWER_BYTES_MAX = 1024 * 1024;
const CLOCK_TOLERANCE_SECONDS = 30;
/** The metadata of a provider may change. */
const METADATA_MS = 3_600_000;
/** Discovery is tried so often, with these pauses; a failure counts for some seconds. */
const PAUSES_MS = [0, 200, 1_000];
const FAILURE_MS = 5_000;

/** Loads the library and reads the provider's metadata at first use. */
export function createOidcClient(settings: OidcSettings, clock: Clock): OidcClient {
  return new CodeFlowClient(settings, clock);
}

class CodeFlowClient implements OidcClient {
  readonly #settings: OidcSettings;
  readonly #clock: Clock;
  readonly #agent: Agent;
  #known: { readonly atMs: number; readonly configuration: Promise<Configuration> } | undefined;
  #failed: { readonly atMs: number; readonly problem: SignInProblem } | undefined;

  constructor(settings: OidcSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#agent = new Agent({
      connect: settings.ca === undefined ? {} : { ca: settings.ca },
      maxResponseSize: ANSWER_BYTES_MAX,
      headersTimeout: ANSWER_SECONDS * 1_000,
      bodyTimeout: ANSWER_SECONDS * 1_000,
    });
  }

  authorizationUrl(): Promise<SignInSecrets & { readonly url: string }> {
    return this.#inWords(async () => {
      const oidc = await import('openid-client');
      const configuration = await this.#provider();
      const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#settings.redirectUri,
        scope: scopesOf(this.#settings, configuration.serverMetadata().scopes_supported).join(' '),
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, state, nonce, verifier };
    });
  }

  redeem(query: URLSearchParams, { state, nonce, verifier }: SignInSecrets): Promise<SignedIn> {
    const { clientId, redirectUri } = this.#settings;
    return this.#inWords(async () => {
      const oidc = await import('openid-client');
      const url = new URL(redirectUri);
      url.search = query.toString();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      return signedIn(await oidc.authorizationCodeGrant(await this.#provider(), url, checks), clientId);
    });
  }

  refresh(refreshToken: string, subject: string): Promise<SignedIn> {
    const { issuer, clientId } = this.#settings;
    return this.#inWords(async () => {
      const oidc = await import('openid-client');
      const next = signedIn(await oidc.refreshTokenGrant(await this.#provider(), refreshToken), clientId);
      if (next.claims.sub !== subject) throw new SignInProblem(`${issuer} names another user now: sign in again.`, 'other_subject');
      // A provider that keeps the refresh token sends none.
      return { refreshToken, ...next };
    });
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  async #inWords<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw signInProblem(error, this.#settings.name);
    }
  }

  /** Concurrent sign-ins share one discovery. */
  #provider(): Promise<Configuration> {
    const nowMs = this.#clock.monotonic();
    const [failed, known] = [this.#failed, this.#known];
    if (failed !== undefined && nowMs - failed.atMs < FAILURE_MS) return Promise.reject(failed.problem);
    if (known !== undefined && nowMs - known.atMs < METADATA_MS) return known.configuration;
    const next = { atMs: nowMs, configuration: this.#discover() };
    this.#known = next;
    next.configuration.catch(() => {
      if (this.#known === next) this.#known = undefined;
    });
    return next.configuration;
  }

  async #discover(): Promise<Configuration> {
    for (const [index, pauseMs] of PAUSES_MS.entries()) {
      if (pauseMs > 0) await sleep(this.#clock, pauseMs);
      try {
        return await readProvider(this.#settings, this.#agent);
      } catch (error) {
        const problem = signInProblem(error, this.#settings.name);
        if (index < PAUSES_MS.length - 1) continue;
        this.#failed = { atMs: this.#clock.monotonic(), problem };
        throw problem;
      }
    }
    throw new Error('discovery is tried at least once');
  }
}

const SCOPES = ['openid', 'email', 'profile'];

/** A provider may refuse a scope that it does not know. */
const scopesOf = ({ scopes, needsGroups }: OidcSettings, supported: readonly string[] = []): readonly string[] =>
  scopes ?? (needsGroups && supported.includes('groups') ? [...SCOPES, 'groups'] : SCOPES);

/** Reads the provider's metadata. */
async function readProvider({ issuer, clientId, clientSecret }: OidcSettings, agent: Agent): Promise<Configuration> {
  const oidc = await import('openid-client');
  // Flags allow HTTP for a provider on this machine alone, as in trials.
  const isLocal = new URL(issuer).protocol === 'http:';
  const options = {
    timeout: ANSWER_SECONDS,
    [oidc.customFetch]: (url: string, init: object) => fetchFrom(url, { ...init, dispatcher: agent }) as unknown as Promise<Response>,
    // Signatures are verified besides TLS: whoever breaks into the connection to the provider still names no user.
    execute: [oidc.enableNonRepudiationChecks, ...(isLocal ? [oidc.allowInsecureRequests] : [])],
  };
  const client = {
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
  };
  const authentication = clientSecret === undefined ? oidc.None() : authenticationOf(oidc, clientSecret);
  const configuration = await oidc.discovery(new URL(issuer), clientId, client, authentication, options);
  if (configuration.serverMetadata().issuer !== issuer)
    throw new SignInProblem(
      `The provider gives itself the issuer ${JSON.stringify(configuration.serverMetadata().issuer)}: write --dashboard-oidc-issuer-url exactly so.`,
      'other_issuer',
    );
  return configuration;
}

/** In the body where the provider says that it takes it there, and else in the header, which all must understand (RFC 6749, 2.3.1). */
const authenticationOf =
  (oidc: typeof Oidc, secret: string): ClientAuth =>
  (server, ...others) => {
    const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true;
    return (isPost ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret))(server, ...others);
  };

type TokenAnswer = {
  readonly id_token?: string;
  readonly refresh_token?: string;
  claims(): Readonly<Record<string, unknown>> | undefined;
};

function signedIn(answer: TokenAnswer, clientId: string): SignedIn {
  const claims = answer.claims();
  const { id_token: idToken, refresh_token: refreshToken } = answer;
  if (claims === undefined || idToken === undefined)
    throw new SignInProblem(
      `The provider sent no ID token for ${clientId}: register the dashboard there as a client of OpenID Connect.`,
      'no_id_token',
    );
  const { exp, sub } = claims;
  if (typeof exp !== 'number' || typeof sub !== 'string') throw new Error('the library returned claims without exp and sub');
  return { idToken, claims: { ...claims, exp, sub }, ...(refreshToken === undefined ? {} : { refreshToken }) };
}
