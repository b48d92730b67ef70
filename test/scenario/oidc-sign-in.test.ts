/** Users sign in to the dashboard at an OpenID provider, over HTTP, with two replicas behind one address. */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CookieJar } from '../support/cookie-jar.ts';
import { createSignInWorld, EXTERNAL, KEYS, type SignInWorld, type SignInWorldOptions } from './sign-in-world.ts';

let world: SignInWorld;
afterEach(() => world.close());
const begin = async (options?: SignInWorldOptions): Promise<CookieJar> => {
  world = await createSignInWorld(options);
  return new CookieJar();
};
const PAGE = { 'x-switchyard-dashboard': '1', 'sec-fetch-site': 'same-origin' };

describe('by the claims of the ID token', () => {
  test('a user comes back to the place where they were, and sees what their name and groups may see, on every replica', async () => {
    const browser = await begin();
    await world.served.createJob('ann', 'hers');
    await world.clock.advance(1_000);
    expect(await world.viewer(browser)).toMatchObject({ status: 401 });
    expect(await world.signIn(browser, '#/jobs?state=Waiting')).toEqual({
      location: `${EXTERNAL}#/jobs?state=Waiting`,
      problem: undefined,
    });
    for (const replica of [0, 1]) {
      const { status, text } = await world.viewer(browser, replica);
      expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ name: 'ann', namespaces: ['ann'], queues: 'None' })]);
    }
    expect(world.served.seen.groups).toEqual(new Set(['oidc:dev', 'system:authenticated']));
  });

  test('the request names PKCE, state and nonce, and the scope of groups where the provider has one', async () => {
    const browser = await begin();
    await world.signIn(browser);
    const [asked] = world.provider.authorizations;
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile groups',
      redirect_uri: `${EXTERNAL}oidc/callback`,
    });
    expect([asked?.get('state')?.length, asked?.get('nonce')?.length, asked?.get('code_challenge')?.length]).toEqual([43, 43, 43]);
    world.provider.knobs.scopes = ['openid'];
    const { clock } = world;
    await clock.advance(3_600_001);
    await world.signIn(browser);
    expect(world.provider.authorizations[1]?.get('scope')).toBe('openid email profile');
  });

  test('cookies are for this host over HTTPS alone, are out of reach of scripts, and last as long as the ID token', async () => {
    const browser = await begin();
    world.provider.knobs.seconds = 900;
    await world.signIn(browser);
    const session = browser.set.filter((each) => /^__Host-switchyard-session-0=[\w-]+;/.test(each));
    expect(session).toHaveLength(1);
    expect(session[0]?.replace(/=[\w-]+;/, '=...;')).toMatch(
      /^__Host-switchyard-session-0=\.\.\.; Max-Age=(?:8[5-9]|9[0-4])\d; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect([...browser.cookies.keys()]).toEqual(['__Host-switchyard-session-0']);
  });

  test('a session is over with its ID token, also for whoever stole the cookie, and its streams end', async () => {
    const browser = await begin();
    await world.signIn(browser);
    const stream = await world.ask(browser, `${EXTERNAL}api/v1/stream`);
    expect(stream.status).toBe(200);
    await world.clock.advance(3_500_000);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    // The provider counts by the time of day, from a moment that a busy machine makes later.
    await world.clock.advance(300_000);
    const over = await world.viewer(browser, 1);
    expect([over.status, over.text]).toEqual([401, expect.stringContaining('the session has ended: sign in again')]);
    await world.clock.advance(60_000);
    await stream.text();
  });

  test('with a refresh token a session goes on, once for each token, and without one it does not', async () => {
    const browser = await begin();
    world.provider.knobs.refreshes = true;
    await world.signIn(browser);
    await world.clock.advance(3_000_000);
    const [before] = browser.cookies.values();
    const prolong = (init: Parameters<CookieJar['fetch']>[1] = { method: 'POST', headers: PAGE }) =>
      world.ask(browser, `${EXTERNAL}oidc/refresh`, init, 1);
    // The provider goes by the real time, which hardly went on.
    expect(((await (await prolong()).json()) as { sessionMs: number }).sessionMs).toBeGreaterThan(590_000);
    const [after] = browser.cookies.values();
    expect(after).not.toBe(before);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    // Another tab with the cookie of before: the provider refuses its refresh token, and the session of before goes on to its end.
    browser.cookies.set('__Host-switchyard-session-0', before ?? '');
    expect((await prolong()).status).toBe(409);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    expect((await prolong({ method: 'POST' })).status).toBe(403);
    expect((await prolong({ method: 'POST', headers: { ...PAGE, 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
  });

  test('a refresh token that does not fit into the cookies beside the session is left out', async () => {
    const groups = Array.from({ length: 100 }, (_, index) => `group-${index}`.padEnd(70, 'x'));
    const browser = await begin({ claims: { name: 'ann', groups } });
    world.provider.knobs.refreshes = true;
    world.provider.knobs.refreshTokenLength = 2_000;
    expect((await world.signIn(browser)).problem).toBeUndefined();
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    expect((await world.ask(browser, `${EXTERNAL}oidc/refresh`, { method: 'POST', headers: PAGE })).status).toBe(409);
  });

  test('a refreshed token of somebody else prolongs nothing', async () => {
    const browser = await begin();
    world.provider.knobs.refreshes = true;
    await world.signIn(browser);
    world.provider.knobs.claims = { name: 'admin', sub: 'u2' };
    const answer = await world.ask(browser, `${EXTERNAL}oidc/refresh`, { method: 'POST', headers: PAGE });
    expect(answer.status).toBe(409);
    expect((await world.viewer(browser)).text).toContain('"name":"ann"');
  });

  test('sign-out removes the session from the browser, and no page of another site can do it', async () => {
    const browser = await begin();
    await world.signIn(browser);
    const signOut = (headers: Record<string, string>) => world.ask(browser, `${EXTERNAL}oidc/sign-out`, { method: 'POST', headers });
    expect((await signOut({})).status).toBe(403);
    expect((await signOut({ ...PAGE, 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    expect((await signOut(PAGE)).status).toBe(204);
    expect(browser.cookies.size).toBe(0);
    expect(await world.viewer(browser)).toMatchObject({ status: 401 });
  });

  test('a token in the header counts before the session, and needs none', async () => {
    const browser = await begin();
    const bearer = { authorization: 'Bearer bob' };
    expect((await world.viewer(browser, 0, bearer)).text).toContain('"name":"bob"');
    await world.signIn(browser);
    expect((await world.viewer(browser, 0, bearer)).text).toContain('"name":"bob"');
    expect(await world.viewer(browser, 0, { authorization: 'Bearer of-nobody' })).toMatchObject({ status: 401 });
  });

  test('another server of the manager takes no session', async () => {
    const browser = await begin();
    await world.signIn(browser);
    expect((await browser.fetch(`${world.served.server.url}/api/v1/viewer`)).status).toBe(401);
  });

  test('many groups are stored in several cookies, and more than fit are refused in words', async () => {
    const groups = Array.from({ length: 100 }, (_, index) => `a-rather-long-name-of-a-group-${index}`.padEnd(70, 'x'));
    const browser = await begin({ claims: { name: 'ann', groups } });
    expect((await world.signIn(browser)).problem).toBeUndefined();
    expect(browser.cookies.size).toBeGreaterThan(1);
    expect(await world.viewer(browser, 1)).toMatchObject({ status: 200 });
    world.provider.knobs.claims = { name: 'ann', groups: ['dev'] };
    await world.signIn(browser);
    expect(browser.cookies.size).toBe(1);
    world.provider.knobs.claims = { name: 'ann', groups: groups.map((each) => each.padEnd(200, 'y')) };
    expect((await world.signIn(browser)).problem).toMatch(
      /^Your session is larger than the 8 KiB that fit into cookies: have the provider send fewer groups or claims/,
    );
  });

  test('a replica that starts later opens the session by an earlier key, and one that has not read its key asks to wait', async () => {
    const next = { current: Buffer.alloc(32, 2), others: [KEYS.current] };
    const never = new Promise<never>(() => undefined);
    const browser = await begin({ keys: [Promise.resolve(KEYS), Promise.resolve(next), Promise.resolve({ ...next, others: [] }), never] });
    const begun = await world.ask(browser, `${EXTERNAL}oidc/sign-in`);
    const back = (await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
    await world.ask(browser, back);
    expect(await world.viewer(browser, 1)).toMatchObject({ status: 200 });
    expect(await world.viewer(browser, 2)).toMatchObject({ status: 401 });
    expect(await world.viewer(browser, 3)).toMatchObject({ status: 503 });
    expect((await world.ask(browser, `${EXTERNAL}oidc/sign-in`, {}, 3)).status).toBe(503);
    expect(await world.viewer(new CookieJar(), 3)).toMatchObject({ status: 401 });
  });
});

describe('by a review of the ID token', () => {
  test('the API server decides who it is, and the manager sends it nothing but the token', async () => {
    const browser = await begin({ settings: { identity: 'TokenReview' } });
    // Of the test's API server a token names its user before the first dot.
    expect((await world.signIn(browser)).problem).toBeUndefined();
    expect(await world.viewer(browser)).toMatchObject({ status: 401 });
    const idToken = world.provider.secrets.find((each) => each.split('.').length === 3) ?? '';
    world.served.people[idToken.split('.')[0] ?? ''] = { namespaces: ['ann'], queues: false, username: 'oidc:ann' };
    await world.clock.advance(11_000);
    expect((await world.viewer(browser, 1)).text).toContain('"name":"oidc:ann"');
    expect(world.served.seen.groups.size).toBe(0);
  });
});

describe('the provider', () => {
  test('is read at the first sign-in, once for many', async () => {
    const browser = await begin();
    expect(world.provider.asked).toEqual([]);
    await Promise.all([browser, new CookieJar(), new CookieJar()].map((each) => world.ask(each, `${EXTERNAL}oidc/sign-in`)));
    expect(world.provider.asked).toEqual(['/.well-known/openid-configuration']);
    await world.signIn(browser);
    expect(world.provider.asked.filter((each) => each === '/keys')).toHaveLength(1);
  });

  test('may change its keys: a token by a new one is accepted after a minute at most', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const browser = await begin();
    await world.signIn(browser);
    world.provider.rotate();
    expect((await world.signIn(browser)).problem).toMatch(/a key that the provider does not publish: try again in a minute/);
    vi.setSystemTime(Date.now() + 61_000);
    expect((await world.signIn(browser)).problem).toBeUndefined();
  });

  test('that is away is told of, and is asked again after some seconds', async () => {
    const browser = await begin();
    world.provider.knobs.status = 500;
    const tried = world.signIn(browser);
    const until = async (count: number): Promise<void> => {
      while (world.provider.asked.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await until(1);
    await world.clock.advance(200);
    await until(2);
    await world.clock.advance(1_000);
    expect(await tried).toEqual({
      location: `${EXTERNAL}#/jobs`,
      problem: 'Example does not answer as an OpenID provider does: check --dashboard-oidc-issuer-url.',
    });
    world.provider.knobs.status = undefined;
    expect((await world.signIn(browser)).problem).toMatch(/^Example does not answer/);
    await world.clock.advance(5_001);
    expect((await world.signIn(browser)).problem).toBeUndefined();
  });
});
