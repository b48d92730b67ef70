/**
 * The adversary is between the user and the provider, is the provider of somebody else, changes tokens, or sends the browser of a user
 * where the user did not want to go. What users see says what is wrong; no token, code or secret is in it, or in the log.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CookieJar } from '../support/cookie-jar.ts';
import { CLIENT, type ProviderKnobs } from '../support/oidc-provider.ts';
import { createSignInWorld, EXTERNAL, type SignInWorld } from '../scenario/sign-in-world.ts';

let world: SignInWorld;
let browser: CookieJar;
beforeEach(async () => {
  world = await createSignInWorld();
  browser = new CookieJar();
});
afterEach(() => world.close());

/** Nobody was let in, and nothing secret was told. */
async function nobodyIsIn(told: string | undefined): Promise<void> {
  expect(await world.viewer(browser)).toMatchObject({ status: 401 });
  expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
  const seen = [told, ...world.logged].join('\n');
  for (const secret of [CLIENT.secret, ...world.provider.secrets]) expect(seen).not.toContain(secret);
}

const now = (): number => Math.floor(Date.now() / 1000);

describe('an ID token', () => {
  const cases: readonly {
    readonly is: string;
    readonly knobs: Partial<ProviderKnobs> | (() => Partial<ProviderKnobs>);
    readonly told: RegExp;
  }[] = [
    { is: 'of another sign-in', knobs: { claims: { name: 'ann', nonce: 'another' } }, told: /belongs to another sign-in: sign in again/ },
    { is: 'without a nonce', knobs: { claims: { name: 'ann', nonce: undefined } }, told: /belongs to another sign-in|is not valid/ },
    {
      is: 'for another application',
      knobs: { claims: { name: 'ann', aud: 'shop' } },
      told: /another application: check --dashboard-oidc-client-id/,
    },
    { is: 'for this and another application', knobs: { claims: { name: 'ann', aud: [CLIENT.id, 'shop'] } }, told: /another application/ },
    {
      is: 'of another issuer',
      knobs: { claims: { name: 'ann', iss: 'https://evil.example' } },
      told: /from another issuer: check --dashboard-oidc-issuer-url/,
    },
    {
      is: 'that has expired',
      knobs: () => ({ claims: { name: 'ann', exp: now() - 60 } }),
      told: /expired already: sign in again. If this repeats, compare the clock/,
    },
    {
      is: 'that has expired within the tolerance',
      knobs: () => ({ claims: { name: 'ann', exp: now() - 10 } }),
      told: /expired already: compare the clock/,
    },
    { is: 'that is not valid yet', knobs: () => ({ claims: { name: 'ann', nbf: now() + 600 } }), told: /not valid yet: compare the clock/ },
    { is: 'without an expiry', knobs: { claims: { name: 'ann', exp: undefined } }, told: /is not valid: sign in again/ },
    { is: 'with a wrong signature', knobs: { isForged: true }, told: /signature of the ID token is wrong/ },
    { is: 'that nobody signed', knobs: { algorithm: 'none' }, told: /signed in a way that is not accepted/ },
    {
      is: 'that nobody signed, as the provider says it does',
      knobs: { algorithm: 'none', algorithms: ['none'] },
      told: /signed in a way that is not accepted/,
    },
    { is: 'signed with the public key as a secret', knobs: { algorithm: 'HS256' }, told: /signed in a way that is not accepted/ },
    {
      is: 'signed with the public key as a secret, as the provider says it does',
      knobs: { algorithm: 'HS256', algorithms: ['RS256', 'HS256'] },
      told: /signed in a way that is not accepted/,
    },
    { is: 'by an algorithm that the provider does not name', knobs: { algorithm: 'ES256' }, told: /signed in a way that is not accepted/ },
    {
      is: 'of a user of the system',
      knobs: { claims: { name: 'system:admin' } },
      told: /begins with "system:", which is for the API server/,
    },
    { is: 'without a name', knobs: { claims: {} }, told: /has no claim "name": have the provider send it/ },
    { is: 'with a name that is no text', knobs: { claims: { name: ['ann'] } }, told: /has no claim "name"/ },
    {
      is: 'with groups that are no names',
      knobs: { claims: { name: 'ann', groups: [{ name: 'dev' }] } },
      told: /claim "groups" is no list of names/,
    },
  ];
  test.each(cases)('$is signs nobody in', async ({ knobs, told }) => {
    Object.assign(world.provider.knobs, typeof knobs === 'function' ? knobs() : knobs);
    const { problem } = await world.signIn(browser);
    expect(problem).toMatch(told);
    await nobodyIsIn(problem);
  });

  test('by another algorithm that the provider names signs the user in', async () => {
    Object.assign(world.provider.knobs, { algorithm: 'ES256', algorithms: ['ES256'] });
    expect((await world.signIn(browser)).problem).toBeUndefined();
  });

  test('with groups of the system gives none of them', async () => {
    await world.close();
    world = await createSignInWorld({
      claims: { name: 'ann', groups: ['system:masters', 'dev'] },
      settings: { identity: { usernameClaim: 'name', usernamePrefix: '', groupsClaim: 'groups', groupsPrefix: '' } },
    });
    await world.signIn(browser);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    expect(world.served.seen.groups).toEqual(new Set(['dev', 'system:authenticated']));
  });

  test('with groups of the system that get a prefix gives groups that are none of the system', async () => {
    world.provider.knobs.claims = { name: 'ann', groups: ['system:masters'] };
    await world.signIn(browser);
    await world.viewer(browser);
    expect(world.served.seen.groups).toEqual(new Set(['oidc:system:masters', 'system:authenticated']));
  });
});

describe('the provider', () => {
  test('that refuses is quoted, as text', async () => {
    world.provider.knobs.refusal = { error: 'access_denied', error_description: 'no "<img src=x>" for you\u0007' };
    const { problem, location } = await world.signIn(browser);
    expect(problem).toBe(
      'Example did not let you in ("no \\"<img src=x>\\" for you"): ask its administrator for access to this application.',
    );
    expect(location).toBe(`${EXTERNAL}#/jobs`);
    await nobodyIsIn(problem);
  });

  test.each([
    ['invalid_scope', /does not know a scope: set --dashboard-oidc-scopes/],
    ['server_error', /refused the sign-in: server_error. Sign in again/],
    ['a"b<c>', /refused the sign-in: a"b<c>/],
  ])('that refuses with %s is told of with the remedy', async (error, told) => {
    world.provider.knobs.refusal = { error };
    const { problem } = await world.signIn(browser);
    expect(problem).toMatch(told);
    await nobodyIsIn(problem);
  });

  test('that does not accept the client secret is told of, without the secret', async () => {
    await world.close();
    world = await createSignInWorld({ settings: { clientSecret: 'wrong-secret' } });
    const { problem } = await world.signIn(browser);
    expect(problem).toBe('Example does not accept this application: check --dashboard-oidc-client-id and its secret.');
    expect(world.logged.join()).not.toContain('wrong-secret');
    await nobodyIsIn(problem);
  });

  test('that answers in the name of another is not believed (RFC 9207)', async () => {
    world.provider.knobs.answersAs = 'https://evil.example';
    const { problem } = await world.signIn(browser);
    expect(problem).toMatch(/^The answer does not come from Example/);
    expect(world.provider.redeemed).toEqual([]);
    await nobodyIsIn(problem);
  });

  test('that is another one than is configured is not believed', async () => {
    await world.close();
    world = await createSignInWorld({ settings: {} });
    const { provider } = world;
    const other = await createSignInWorld({ settings: { issuer: `${provider.issuer}/` } });
    const { problem } = await (async () => {
      const begun = other.signIn(browser);
      for (let pauses = 0; pauses < 2; pauses++) {
        while (provider.asked.length <= pauses) await new Promise((resolve) => setTimeout(resolve, 1));
        await other.clock.advance(1_000);
      }
      return begun;
    })();
    expect(problem).toBe(`The provider gives itself the issuer "${provider.issuer}": write --dashboard-oidc-issuer-url exactly so.`);
    await other.close();
  });
});

describe('the way back', () => {
  const begin = async (jar: CookieJar): Promise<string> => {
    const begun = await world.ask(jar, `${EXTERNAL}oidc/sign-in`);
    return (await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
  };
  const problemIn = async (jar: CookieJar): Promise<unknown> =>
    ((await (await world.ask(jar, `${EXTERNAL}oidc/provider`)).json()) as { problem?: string }).problem;

  test('of the adversary signs no other browser in as them', async () => {
    const theirs = await begin(new CookieJar());
    await world.ask(browser, theirs);
    expect(await problemIn(browser)).toMatch(/began in another browser, or more than ten minutes ago: sign in again/);
    // Not even where the user has begun to sign in.
    await begin(browser);
    await world.ask(browser, theirs);
    const problem = await problemIn(browser);
    expect(problem).toBe('The answer belongs to another sign-in of this browser: sign in again.');
    expect(world.provider.redeemed).toEqual([]);
    await nobodyIsIn(String(problem));
  });

  test('counts once, and a stolen code is worth nothing without its browser', async () => {
    const thief = new CookieJar();
    const back = await begin(browser);
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    await world.ask(browser, back);
    expect(await world.viewer(browser)).toMatchObject({ status: 200 });
    expect([...browser.cookies.keys()]).toEqual(['__Host-switchyard-session-0']);
    // With the cookie of the sign-in as well: the provider takes no code twice.
    await world.ask(thief, back);
    expect(await problemIn(thief)).toMatch(/^This sign-in has been used already, or took too long/);
    expect(await world.viewer(thief)).toMatchObject({ status: 401 });
  });

  test('with another code is stopped by PKCE', async () => {
    const theirs = new URL(await begin(new CookieJar()));
    const back = new URL(await begin(browser));
    back.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    await world.ask(browser, back.href);
    expect(await problemIn(browser)).toMatch(/^This sign-in has been used already, or took too long/);
    await nobodyIsIn(undefined);
  });

  test('takes ten minutes at most', async () => {
    const back = await begin(browser);
    await world.clock.advance(600_001);
    await world.ask(browser, back);
    expect(await problemIn(browser)).toMatch(/more than ten minutes ago/);
    await nobodyIsIn(undefined);
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '#//evil.example\r\nset-cookie: a=b',
    'javascript:alert(1)',
    '#/yard?token=theirs',
    '#/yard&token=x',
    '',
  ])('leads to the dashboard alone, and not to %j', async (place) => {
    expect(await world.signIn(browser, place)).toEqual({ location: EXTERNAL, problem: undefined });
  });

  test('with parameters twice, or with none, signs nobody in', async () => {
    const back = await begin(browser);
    await world.ask(browser, `${back}&code=another`);
    expect(await problemIn(browser)).toMatch(/is not valid/);
    await begin(browser);
    await world.ask(browser, `${EXTERNAL}oidc/callback`);
    expect(await problemIn(browser)).toMatch(/another sign-in of this browser/);
    await nobodyIsIn(undefined);
  });
});

describe('a cookie', () => {
  test('of which one bit is changed is refused, whichever', async () => {
    await world.signIn(browser);
    const [[name = '', value = ''] = []] = browser.cookies;
    const signIn = (given: string) => world.viewer(Object.assign(new CookieJar(), { cookies: new Map([[name, given]]) }));
    expect(await signIn(value)).toMatchObject({ status: 200 });
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let index = 0; index < value.length; index++) {
      // Each character has six bits.
      const changed = characters[characters.indexOf(value[index] ?? '') ^ (1 << (index % 6))] ?? '';
      expect(await signIn(`${value.slice(0, index)}${changed}${value.slice(index + 1)}`), `character ${index}`).toMatchObject({
        status: 401,
      });
    }
    for (const given of [value.slice(1), value.slice(0, -1), `${value}A`, 'x', '%00', '{}'])
      expect(await signIn(given)).toMatchObject({ status: 401 });
  });

  test('of a sign-in, of another dashboard, or sent twice is no session', async () => {
    await world.ask(browser, `${EXTERNAL}oidc/sign-in`);
    const [pending = ''] = browser.cookies.values();
    browser.cookies.set('__Host-switchyard-session-0', pending);
    expect(await world.viewer(browser)).toMatchObject({ status: 401 });
    const other = await createSignInWorld({ settings: { externalUrl: 'https://other.test/' } });
    const there = new CookieJar();
    await other.signIn(there);
    expect(await other.viewer(there)).toMatchObject({ status: 200 });
    expect(await world.viewer(there)).toMatchObject({ status: 401 });
    await other.close();
    await world.signIn(browser);
    const [[name, value] = []] = browser.cookies;
    const twice = await fetch(`${world.served.replicas[0]?.url}/api/v1/viewer`, {
      headers: { cookie: `${name}=${value}; ${name}=${value}` },
    });
    expect(twice.status).toBe(401);
  });

  test('does nothing for a page of another site', async () => {
    await world.signIn(browser);
    expect(await world.viewer(browser, 0, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(await world.viewer(browser, 0, { 'sec-fetch-site': 'same-site' })).toMatchObject({ status: 403 });
    world.served.people['ann'] = { namespaces: ['ann'], queues: false, acts: true };
    await world.served.createJob('ann', 'hers');
    await world.clock.advance(1_000);
    const act = (headers: Record<string, string>) =>
      world.ask(browser, `${EXTERNAL}api/v1/actions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ action: 'Hold', jobs: ['ann/hers'], count: 1 }),
      });
    const own = { 'x-switchyard-dashboard': '1' };
    expect((await act({})).status).toBe(403);
    expect((await act({ ...own, origin: 'https://evil.example' })).status).toBe(403);
    expect((await act({ ...own, 'sec-fetch-site': 'same-site' })).status).toBe(403);
    const { host } = new URL(world.served.replicas[0]?.url ?? '');
    expect((await act({ ...own, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });
});
