import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createFairSlots, TooMuchWaits } from '../../shared/runtime/fair-slots.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { createCookieSeal, type CookieSeal } from './cookie-seal.ts';
import { cookieScope, readCookie, setCookies, VALUE_CHARACTERS_MAX, type CookieScope } from './cookies.ts';
import { createOidcClient, type OidcClient, type OidcSettings, type SignedIn, type SignInSecrets } from './oidc-client.ts';
import { userOfClaims, type ClaimRules } from './oidc-user.ts';
import { SignInProblem } from './sign-in-problem.ts';

export type SignInSettings = Omit<OidcSettings, 'redirectUri' | 'needsGroups'> & {
  /** Where browsers find the dashboard; ends with a slash. */
  readonly externalUrl: string;
  /** `TokenReview`: the API server knows the issuer, and the ID token is the user's token there. */
  readonly identity: 'TokenReview' | ClaimRules;
};

/** Who has signed in, until then. */
export type SessionIdentity = { readonly untilMs: number } & (
  | { readonly kind: 'Token'; readonly token: string }
  | { readonly kind: 'User'; readonly user: KubeUser }
);

/** `Ended`: the cookie has expired, or was not sealed here. `NotReady`: the key is not read yet. */
export type Session = SessionIdentity | 'Ended' | 'NotReady';

/** The key of cookies is not read yet. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** A redirect, with the cookies that it sets. */
export type Redirect = { readonly location: string; readonly cookies: string[] };

/**
 * Signs users in at an OpenID provider. The session is in a cookie that is sealed with a key which all replicas share: no replica keeps
 * anything. It ends with the ID token. Functions throw {@link NotReady} until the key is known.
 */
export interface SignIn {
  readonly name: string;
  /** To the provider. `place`: where in the dashboard the user is, such as `#/jobs`. */
  begin(place: string | null): Promise<Redirect>;
  /** From the provider: to the dashboard, with a session or with a problem to show. */
  finish(query: URLSearchParams, cookies: string | undefined, address: string | undefined): Promise<Redirect>;
  /** The problem of the last sign-in of this browser, which is told once. */
  problem(cookies: string | undefined): { readonly problem?: string; readonly cookies: string[] };
  /** Never throws. */
  session(cookies: string | undefined): Session | undefined;
  /** A session with a new ID token; undefined where the provider gives none. */
  refresh(
    cookies: string | undefined,
    address: string | undefined,
  ): Promise<{ readonly leftMs: number; readonly cookies: string[] } | undefined>;
  /** Deletes the session in the browser. */
  end(): string[];
  close(): Promise<void>;
}

export type SignInDeps = {
  readonly settings: SignInSettings;
  /** The record keys, which all replicas share. */
  readonly keys: Promise<RecordKeys>;
  readonly clock: Clock;
  readonly log: Logger;
};

/** What the browser keeps while the user is at the provider, and the problem afterwards. */
type Pending = { readonly kind: 'Pending'; readonly untilMs: number; readonly place: string; readonly secrets: SignInSecrets };
type Failed = { readonly kind: 'Failed'; readonly untilMs: number; readonly problem: string };
type StoredSession = { readonly identity: SessionIdentity; readonly subject: string; readonly refreshToken?: string };

const SESSION = 'switchyard-session';
const PENDING = 'switchyard-sign-in';
const PENDING_SECONDS = 600;
const PROBLEM_SECONDS = 60;
/** Exchanges with the provider at once, an eighth of them for one address. */
const EXCHANGES = { all: 32, waitingMax: 16 };
const BEGIN_AGAIN = 'This sign-in began in another browser, or more than ten minutes ago: sign in again.';

export function createSignIn(deps: SignInDeps): SignIn {
  return new OidcSignIn(deps);
}

type Seals = { readonly sessions: CookieSeal; readonly pendings: CookieSeal };

class OidcSignIn implements SignIn {
  readonly name: string;
  readonly #settings: SignInSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #client: OidcClient;
  readonly #scope: CookieScope;
  readonly #exchanges = createFairSlots(EXCHANGES);
  #seals: Seals | undefined;

  constructor({ settings, keys, clock, log }: SignInDeps) {
    const { externalUrl, name, issuer, clientId, identity } = settings;
    this.name = name;
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    const needsGroups = identity !== 'TokenReview' && identity.groupsClaim !== undefined;
    this.#client = createOidcClient({ ...settings, redirectUri: new URL('oidc/callback', externalUrl).href, needsGroups }, clock);
    this.#scope = cookieScope(externalUrl);
    void keys.then((read) => {
      const of = [issuer, clientId, externalUrl];
      this.#seals = { sessions: createCookieSeal(read, ['session', ...of]), pendings: createCookieSeal(read, ['sign-in', ...of]) };
    });
  }

  async begin(place: string | null): Promise<Redirect> {
    this.#ready();
    try {
      const { url, ...secrets } = await this.#client.authorizationUrl();
      const untilMs = this.#clock.now() + PENDING_SECONDS * 1_000;
      const pending: Pending = { kind: 'Pending', place: ownPlace(place), secrets, untilMs };
      return { location: url, cookies: this.#setPending(pending, PENDING_SECONDS) };
    } catch (error) {
      return this.#failed(this.#problemOf(error, 'begin'), ownPlace(place));
    }
  }

  async finish(query: URLSearchParams, cookies: string | undefined, address: string | undefined): Promise<Redirect> {
    const pending = this.#pending(cookies);
    if (pending?.kind !== 'Pending') return this.#failed(BEGIN_AGAIN);
    try {
      const session = this.#sessionOf(await this.#exchanges.run(address ?? '', () => this.#client.redeem(query, pending.secrets)));
      return { location: `${this.#settings.externalUrl}${pending.place}`, cookies: [...this.#clearPending(), ...session.cookies] };
    } catch (error) {
      return this.#failed(this.#problemOf(error, 'finish'), pending.place);
    }
  }

  problem(cookies: string | undefined): ReturnType<SignIn['problem']> {
    const last = this.#pending(cookies);
    return last?.kind === 'Failed' ? { problem: last.problem, cookies: this.#clearPending() } : { cookies: [] };
  }

  session(cookies: string | undefined): Session | undefined {
    if (this.#seals === undefined) return readCookie(cookies, SESSION, this.#scope) === undefined ? undefined : 'NotReady';
    const session = this.#stored(cookies);
    return typeof session === 'object' ? session.identity : session;
  }

  async refresh(cookies: string | undefined, address: string | undefined): ReturnType<SignIn['refresh']> {
    const session = this.#stored(cookies);
    if (typeof session !== 'object' || session.refreshToken === undefined) return undefined;
    const { refreshToken, subject } = session;
    try {
      const next = this.#sessionOf(await this.#exchanges.run(address ?? '', () => this.#client.refresh(refreshToken, subject)));
      return { leftMs: next.untilMs - this.#clock.now(), cookies: next.cookies };
    } catch (error) {
      this.#problemOf(error, 'refresh');
      return undefined;
    }
  }

  end(): string[] {
    return setCookies(SESSION, '', 0, this.#scope);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #ready(): Seals {
    if (this.#seals === undefined) throw new NotReady('the manager has just started: try again in a moment');
    return this.#seals;
  }

  #pending(cookies: string | undefined): Pending | Failed | undefined {
    return opened(this.#ready().pendings, readCookie(cookies, PENDING, this.#scope), this.#clock);
  }

  #setPending(value: Pending | Failed, seconds: number): string[] {
    return setCookies(PENDING, this.#ready().pendings.seal(value), seconds, this.#scope, 1);
  }

  #clearPending(): string[] {
    return setCookies(PENDING, '', 0, this.#scope, 1);
  }

  #failed(problem: string, place = ''): Redirect {
    const untilMs = this.#clock.now() + PROBLEM_SECONDS * 1_000;
    return {
      location: `${this.#settings.externalUrl}${place}`,
      cookies: this.#setPending({ kind: 'Failed', problem, untilMs }, PROBLEM_SECONDS),
    };
  }

  /** The problem of an attempt, and undefined for an error of ours. */
  #problemOf(error: unknown, doing: string): string {
    if (error instanceof TooMuchWaits) return 'Too many users sign in at once: try again.';
    if (!(error instanceof SignInProblem)) throw error;
    this.#log.warn('a sign-in to the dashboard failed', { doing, code: error.code, why: error.message });
    return error.message;
  }

  /** Throws {@link SignInProblem}. */
  #sessionOf(signedIn: SignedIn): { readonly untilMs: number; readonly cookies: string[] } {
    const { claims, refreshToken } = signedIn;
    const untilMs = claims.exp * 1_000;
    const seconds = Math.floor((untilMs - this.#clock.now()) / 1_000);
    if (seconds <= 0)
      throw new SignInProblem('The ID token has expired already: compare the clock of the manager with that of the provider.', 'expired');
    const identity = identityOf(signedIn, this.#settings.identity, untilMs);
    const stored: StoredSession = { identity, subject: claims.sub, ...omitUndefined({ refreshToken }) };
    // A session that only lacks its refresh token ends with the ID token.
    const [whole, least] = [stored, { identity, subject: claims.sub }].map((each) => this.#ready().sessions.seal(each));
    const sealed = [whole, least].find((each) => each !== undefined && each.length <= VALUE_CHARACTERS_MAX);
    if (sealed === undefined)
      throw new SignInProblem(
        `Your session is larger than the ${Math.floor((VALUE_CHARACTERS_MAX * 3) / 4 / 1024)} KiB that fit into cookies: have the provider send fewer groups or claims.`,
        'too_large',
      );
    return { untilMs, cookies: setCookies(SESSION, sealed, seconds, this.#scope) };
  }

  #stored(cookies: string | undefined): StoredSession | 'Ended' | undefined {
    const sealed = readCookie(cookies, SESSION, this.#scope);
    if (sealed === undefined) return undefined;
    const session = this.#ready().sessions.open(sealed) as StoredSession | undefined;
    return session === undefined || session.identity.untilMs <= this.#clock.now() ? 'Ended' : session;
  }
}

/** A place in the dashboard, which is in the fragment of its URL: no other site. A token in it would sign another user in. */
export function ownPlace(place: string | null): string {
  return place !== null && /^#\/[\x21-\x7e]{0,1024}$/.test(place) && !/[#&?]token=/.test(place) ? place : '';
}

function opened(seal: CookieSeal, sealed: string | undefined, clock: Clock): Pending | Failed | undefined {
  const value = sealed === undefined ? undefined : (seal.open(sealed) as Pending | Failed | undefined);
  return value !== undefined && value.untilMs > clock.now() ? value : undefined;
}

/** Throws {@link SignInProblem}. */
function identityOf({ claims, idToken }: SignedIn, rules: 'TokenReview' | ClaimRules, untilMs: number): SessionIdentity {
  if (rules === 'TokenReview') return { kind: 'Token', token: idToken, untilMs };
  const user = userOfClaims(claims, rules);
  if ('problem' in user) throw new SignInProblem(user.problem, 'no_user');
  return { kind: 'User', user, untilMs };
}
