/**
 * Takes pictures of every page of the dashboard into the folder that $SWITCHYARD_PICTURES names; those that documents show are among them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openBrowser, openPage } from '../support/browser.ts';
import { aMorningAtWork } from './dashboard-fixture.ts';
import { createDashboardWorld, type DashboardWorld } from './dashboard-world.ts';

const FOLDER = process.env['SWITCHYARD_PICTURES'];
const PLACES = {
  yard: 'yard',
  jobs: 'jobs',
  'jobs-by-queue': 'jobs?group=clusterQueue',
  waiting: 'jobs/language/sweep-4',
  indexed: 'jobs/vision/label-frames',
  'never-runs': 'jobs/reports/all-years',
  failed: 'jobs/reports/invoices-2026-01',
  pods: 'jobs/reports/invoices-2026-01?tab=pods',
  conditions: 'jobs/vision/train-detector?tab=conditions',
  yaml: 'jobs/vision/train-detector?tab=yaml',
  log: 'jobs/vision/train-detector?tab=pods',
  queues: 'queues',
  queue: 'queues/language',
  'what-if': 'queues/language?',
  past: 'yard',
  clusters: 'clusters',
  cluster: 'clusters/oregon',
  submissions: 'submissions',
  usage: 'usage',
} as const;
/** What comes after the rest of its page. */
const LAST: Readonly<Record<string, string>> = { queue: 'Who uses it', cluster: 'Fence and Lease', indexed: 'Facts' };

/** More quota, and what would become of Jobs with it. */
async function turnTheDial(page: Page, { until }: DashboardWorld): Promise<void> {
  const card = page.locator('.card:has(h2:text("What if"))');
  await until(async () => (await card.count()) > 0);
  await card.getByLabel('cpu of default in cores', { exact: true }).fill('24');
  await until(async () => (await card.innerText()).includes('would be admitted'));
  await card.evaluate('(element) => scrollTo(0, element.offsetTop - 320)');
}

/** A moment some minutes ago. */
async function lookBack(page: Page, { until, world }: DashboardWorld): Promise<void> {
  await page.evaluate(`location.hash = '#/yard?at=${world.clock.now() - 300_000}'`);
  await until(async () => (await page.locator('.past').count()) > 0 && (await page.locator('.notice.wait').count()) === 0);
}

const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

const SMALL_BYTES = 60 * 1024;
/** What a browser runs to make another picture of a PNG. */
const asWebp = (png: string): string => `(async () => {
  const image = new Image();
  image.src = 'data:image/png;base64,${png}';
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', 0.7).split(',')[1];
})()`;

const EPOCHS = Array.from({ length: 12 }, (_, epoch) => `epoch ${epoch + 1} loss ${(1.2 / (epoch + 2)).toFixed(3)}`);
/** Of the first pod that runs. */
async function openLog(page: Page, { book, until }: DashboardWorld): Promise<void> {
  const row = page.locator('.card:has(h2:has-text("Pods that run")) button.link').first();
  await until(async () => (await row.count()) > 0);
  const pod = await row.innerText();
  if (book.taken === 0) book.write(pod, 'loading 4 shards', ...EPOCHS);
  await row.click();
  await until(async () => (await page.locator('.log pre', { hasText: 'epoch 12' }).count()) > 0);
}

test.skipIf(FOLDER === undefined)('every page has its picture in light, dark and phone width', { timeout: 300_000 }, async () => {
  const folder = FOLDER ?? '';
  mkdirSync(folder, { recursive: true });
  const dashboard = await createDashboardWorld();
  await aMorningAtWork(dashboard);
  const browser = await openBrowser();
  const converter = await browser.newPage();
  /** As it is, and small as WebP for documents. */
  const keep = async (page: Page, name: string): Promise<void> => {
    const picture = await page.screenshot({ path: path.join(folder, `${name}.png`) });
    const small = Buffer.from(await converter.evaluate<string>(asWebp(picture.toString('base64'))), 'base64');
    expect(small.byteLength, name).toBeLessThan(SMALL_BYTES);
    writeFileSync(path.join(folder, `${name}.webp`), small);
  };
  try {
    for (const [look, options] of Object.entries(LOOKS)) {
      const outside = await openPage(browser, dashboard.url, options);
      await outside.page.getByLabel('Token').waitFor();
      await keep(outside.page, `login-${look}`);
      await outside.context.close();
      const { page, context, misdeeds } = await openPage(browser, dashboard.url, { ...options, token: 'admin' });
      for (const [name, place] of Object.entries(PLACES)) {
        await page.goto(`${dashboard.url}/#/${place}`);
        await page.locator('main :is(h1, .notice)').first().waitFor();
        await dashboard.until(async () => (await page.locator('.notice.wait').count()) === 0);
        const last = LAST[name];
        if (last !== undefined) await dashboard.until(async () => (await page.getByRole('heading', { name: last }).count()) > 0);
        if (name === 'log') await openLog(page, dashboard);
        if (name === 'what-if') await turnTheDial(page, dashboard);
        if (name === 'past') await lookBack(page, dashboard);
        await keep(page, `${name}-${look}`);
        // Nothing hangs out over the edge.
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${name} ${look}`).toBeLessThanOrEqual(0);
      }
      expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
      await context.close();
    }
  } finally {
    await browser.close();
    await dashboard.close();
  }
});
