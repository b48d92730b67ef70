/** Two replicas of the dashboard behind one address, an OpenID provider, and browsers that go between them. */
import { createSignIn, type SignInSettings } from '../../manager/sign-in/sign-in.ts';
import type { RecordKeys } from '../../manager/api/record-seal.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { CookieJar } from '../support/cookie-jar.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CLIENT, createOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { serveTestDashboard, type ServedDashboard } from './served-dashboard.ts';

export const EXTERNAL = 'https://switchyard.test/';
export const KEYS: RecordKeys = { current: Buffer.alloc(32, 1), others: [] };
export const BY_CLAIMS = { usernameClaim: 'name', usernamePrefix: '', groupsClaim: 'groups', groupsPrefix: 'oidc:' } as const;

export type SignInWorld = {
  readonly provider: TestProvider;
  readonly served: ServedDashboard;
  readonly clock: FakeClock;
  /** All that was logged, as text. */
  readonly logged: string[];
  /** Asks a replica for what is at this URL of the dashboard. */
  ask(browser: CookieJar, url: string, init?: Parameters<CookieJar['fetch']>[1], replica?: number): Promise<Response>;
  /** Goes to the provider and back; where the browser ends, with the problem that the sign-in page shows. */
  signIn(browser: CookieJar, place?: string): Promise<{ readonly location: string; readonly problem: string | undefined }>;
  /** What the API says of who looks. */
  viewer(browser: CookieJar, replica?: number, headers?: Record<string, string>): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
};

export type SignInWorldOptions = {
  readonly claims?: Record<string, unknown>;
  readonly settings?: Partial<SignInSettings>;
  /** Of each replica. */
  readonly keys?: readonly Promise<RecordKeys>[];
  /** Where the only replica serves the page, too. */
  readonly address?: string;
};

export async function createSignInWorld({
  claims = { name: 'ann', groups: ['dev'] },
  settings = {},
  keys = [Promise.resolve(KEYS), Promise.resolve(KEYS)],
  address,
}: SignInWorldOptions = {}): Promise<SignInWorld> {
  const provider = await createOidcProvider(claims);
  const clock = new FakeClock(Date.now());
  const logged: string[] = [];
  const note =
    (level: string) =>
    (message: string, details: object = {}): void =>
      void logged.push(`${level} ${message} ${JSON.stringify(details)}`);
  const log: Logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error'), with: () => log };
  const all: SignInSettings = {
    issuer: provider.issuer,
    name: 'Example',
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    externalUrl: EXTERNAL,
    identity: BY_CLAIMS,
    ...settings,
  };
  const signIns = keys.map((each) => createSignIn({ settings: all, keys: each, clock, log }));
  const served = await serveTestDashboard({ signIns, clock, address });
  const ask: SignInWorld['ask'] = (browser, url, init, replica = 0) =>
    browser.fetch(url.replace(all.externalUrl, `${served.replicas[replica]?.url}/`), init);
  return {
    provider,
    served,
    clock,
    logged,
    ask,
    async signIn(browser, place = '#/jobs') {
      const begun = await ask(browser, `${all.externalUrl}oidc/sign-in?place=${encodeURIComponent(place)}`);
      let location = begun.headers.get('location') ?? '';
      if (location.startsWith(provider.issuer)) {
        const back = (await fetch(location, { redirect: 'manual' })).headers.get('location') ?? '';
        location = (await ask(browser, back, {}, 1 % served.replicas.length)).headers.get('location') ?? '';
      }
      const { problem } = (await (await ask(browser, `${all.externalUrl}oidc/provider`)).json()) as { problem?: string };
      return { location, problem };
    },
    async viewer(browser, replica = 0, headers = {}) {
      const response = await ask(browser, `${all.externalUrl}api/v1/viewer`, { headers }, replica);
      return { status: response.status, text: await response.text() };
    },
    async close() {
      await served.close();
      await provider.close();
    },
  };
}
