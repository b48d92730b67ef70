/** Users sign in to the dashboard at an OpenID provider in a browser. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import { createSignInWorld, KEYS, type SignInWorld } from '../scenario/sign-in-world.ts';
import { accessibilityProblems, CHROMIUM, NO_CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { START_LIMIT_MS } from './dashboard-world.ts';

if (CHROMIUM === undefined) console.warn(`nobody signs in in a browser: ${NO_CHROMIUM}`);

const TURN_MS = 5;
const STEP_MS = 100;

/** A port for the replica, whose address its provider knows before it is served. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.skipIf(CHROMIUM === undefined)('in a browser', () => {
  let world: SignInWorld;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    const problem = await buildPage(path.join(import.meta.dirname, '..', '..'));
    if (problem !== undefined) throw new Error(`the page could not be built: ${problem}`);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    world = await createSignInWorld({ settings: { externalUrl: `${url}/` }, keys: [Promise.resolve(KEYS)], address: `127.0.0.1:${port}` });
    await world.served.createJob('ann', 'hers');
    world.served.people['ann'] = { namespaces: ['ann'], queues: false, acts: true };
    await world.clock.advance(1_000);
    browser = await openBrowser();
  }, START_LIMIT_MS);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(() =>
    Object.assign(world.provider.knobs, { claims: { name: 'ann', groups: ['dev'] }, refusal: undefined, refreshes: false, seconds: 3_600 }),
  );

  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      await world.clock.advance(STEP_MS);
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    }
  };
  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    until(async () => (await page.locator(selector, { hasText: text }).count()) > 0);
  const signIn = async (page: Page): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in with Example' }).click();
    await shows(page, 'button.who', 'ann');
  };

  test('a user signs in by the button, is where they were, stays signed in, acts, and signs out', async () => {
    const { page, context, misdeeds } = await openPage(browser, `${url}/#/jobs?text=hers`);
    await shows(page, 'a', 'Sign in with Example');
    expect(await page.getByLabel('Token').isVisible()).toBe(true);
    expect(await accessibilityProblems(page)).toEqual([]);
    await signIn(page);
    expect(page.url()).toBe(`${url}/#/jobs?text=hers`);
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0]);
    await page.reload();
    await shows(page, 'button.who', 'ann');
    await shows(page, '[role=status]', '1 Job');
    await page.getByLabel('Choose ann/hers').check();
    await page.getByRole('button', { name: 'Hold …' }).click();
    await page.getByRole('button', { name: 'Hold 1 Job' }).click();
    await shows(page, 'dialog', 'Done with 1 of 1');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('button.who').click();
    await shows(page, 'a', 'Sign in with Example');
    expect(await context.cookies()).toEqual([]);
    expect(misdeeds.errors).toEqual([]);
    expect(misdeeds.elsewhere.map((each) => new URL(each).pathname)).toEqual(['/authorize']);
    expect(misdeeds.elsewhere.every((each) => each.startsWith(world.provider.issuer))).toBe(true);
  });

  test('what the provider says is shown as text, once, and the token field is still there', async () => {
    const { page, misdeeds } = await openPage(browser, url);
    world.provider.knobs.refusal = { error: 'access_denied', error_description: '<b id="forged">no</b>' };
    await page.getByRole('link', { name: 'Sign in with Example' }).click();
    await shows(page, '[role=alert]', 'Example did not let you in ("<b id=\\"forged\\">no</b>"): ask its administrator');
    expect(await page.locator('#forged').count()).toBe(0);
    await page.reload();
    await shows(page, 'a', 'Sign in with Example');
    expect(await page.locator('[role=alert]').count()).toBe(0);
    await page.getByLabel('Token').fill('bob');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shows(page, 'button.who', 'bob');
    expect(misdeeds.errors).toEqual([]);
  });

  test('a page of another place can neither end the session nor use it', async () => {
    const { page, context } = await openPage(browser, url);
    await shows(page, 'a', 'Sign in with Example');
    await signIn(page);
    const elsewhere = await context.newPage();
    await elsewhere.goto(`${world.provider.issuer}/keys`);
    const forged = (at: string): Promise<string> =>
      elsewhere.evaluate(
        (to) =>
          fetch(to, {
            method: 'POST',
            credentials: 'include',
            mode: 'no-cors',
            body: '{"action":"Cancel","jobs":["ann/hers"],"count":1}',
          }).then(({ type }) => type),
        at,
      );
    expect(await forged(`${url}/oidc/sign-out`)).toBe('opaque');
    expect(await forged(`${url}/api/v1/actions`)).toBe('opaque');
    await page.reload();
    await shows(page, 'button.who', 'ann');
    await page.goto(`${url}/#/jobs?text=hers`);
    await shows(page, '[role=status]', '1 Job');
  });

  test('a page that stays open prolongs the session before its end', async () => {
    Object.assign(world.provider.knobs, { refreshes: true, seconds: 90 });
    const { page, context } = await openPage(browser, url);
    await page.clock.install();
    await page.reload();
    await shows(page, 'a', 'Sign in with Example');
    await signIn(page);
    const session = async (): Promise<string | undefined> => (await context.cookies())[0]?.value;
    const before = await session();
    await page.clock.fastForward(80_000);
    await until(async () => (await session()) !== before);
    expect(world.provider.redeemed.at(-1)?.get('grant_type')).toBe('refresh_token');
    await page.reload();
    await shows(page, 'button.who', 'ann');
  });

  test('when the session ends, the page asks to sign in again', async () => {
    const { page } = await openPage(browser, url);
    await shows(page, 'a', 'Sign in with Example');
    await signIn(page);
    await world.clock.advance(3_600_000);
    await shows(page, '[role=alert]', 'the session has ended: sign in again');
    await shows(page, 'a', 'Sign in with Example');
  });
});
