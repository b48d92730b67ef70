/** A Chromium of this machine, driven from a test. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** $CHROMIUM, or where Debian and others put it. Undefined: there is none. */
export const CHROMIUM = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (file) => file !== undefined && existsSync(file),
);
export const NO_CHROMIUM = 'there is no Chromium: install it (Debian: apt-get install chromium), or name one with $CHROMIUM';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** With an empty folder of its own, which goes with it. */
export function openBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
}

/** What a page did that it must not do. */
export type Misdeeds = {
  /** Requests to another place than the dashboard. */
  readonly elsewhere: readonly string[];
  /** Errors that nobody caught, and what the policy of the page forbade. */
  readonly errors: readonly string[];
};

/** A page of its own context, as another person has it, for one test; with what may be held against it. */
export async function openPage(
  browser: Browser,
  url: string,
  { token, ...options }: NonNullable<Parameters<Browser['newContext']>[0]> & { readonly token?: string } = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext; readonly misdeeds: Misdeeds }> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce', ...options });
  // A page that stays open goes on to draw whatever happens in other tests.
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const misdeeds = { elsewhere: [] as string[], errors: [] as string[] };
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.origin !== new URL(url).origin && !['data:', 'blob:'].includes(to.protocol)) misdeeds.elsewhere.push(request.url());
  });
  page.on('pageerror', (error) => misdeeds.errors.push(error.message));
  page.on('console', (message) => {
    if (/content security policy|trustedhtml|trusted type/i.test(message.text())) misdeeds.errors.push(message.text());
  });
  await page.goto(token === undefined ? url : `${url}/#/yard?token=${token}`);
  return { page, context, misdeeds };
}

type Violation = { readonly id: string; readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[] };

/**
 * What axe finds wrong with a page as it stands, one line each: WCAG 2.2 AA and what axe holds for good practice; or these of its rules
 * alone.
 */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // What the browser itself evaluates is not held to the policy of the page, so that this goes in without weakening it.
  if (!(await page.evaluate(() => Object.hasOwn(globalThis, 'axe')))) await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = await page.evaluate(
    (runOnly) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }).axe.run(
        runOnly ? { runOnly } : {},
      ),
    rules && [...rules],
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)} ${failureSummary?.replaceAll(/\s+/g, ' ') ?? ''}`),
  );
}

/** A way to a port that can be cut: what goes through it ends at once, and nothing comes through until it is mended. */
export async function createCable(port: number): Promise<{ readonly url: string; cut(): void; mend(): void; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      // Whatever breaks on one side ends the other.
      socket.on('error', () => other.destroy());
      socket.on('close', () => (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => ((isCut = true), end()),
    mend: () => (isCut = false),
    async close() {
      const closed = once(server, 'close');
      server.close();
      end();
      await closed;
    },
  };
}
