/** The log of a pod that runs, as somebody reads it in a browser: followed, searched, taken home, and read on after a break. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PODS } from '../../shared/api/resources.ts';
import { accessibilityProblems, CHROMIUM, createCable, NO_CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { createDashboardWorld, START_LIMIT_MS, type DashboardWorld } from './dashboard-world.ts';

if (CHROMIUM === undefined) console.warn(`logs are not followed in a browser: ${NO_CHROMIUM}`);

const HOSTILE = '<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>';

describe.skipIf(CHROMIUM === undefined)('in a browser the log of a pod that runs', () => {
  let dashboard: DashboardWorld;
  let browser: Browser;
  beforeAll(async () => {
    [dashboard, browser] = await Promise.all([createDashboardWorld(), openBrowser()]);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });

  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    dashboard.until(async () => (await page.locator(selector, { hasText: text }).count()) > 0);
  /** A Job whose only pod runs, and where. */
  async function running(name: string): Promise<{ readonly cluster: string; readonly pod: string; readonly namespace: string }> {
    await dashboard.submit('vision', name, { seconds: 36_000 });
    const { world } = dashboard;
    for (;;) {
      await world.clock.advance(1_000);
      for (const cluster of ['frankfurt', 'oregon', 'tokyo']) {
        const pod = (await world.podsOn(cluster)).find(
          ({ metadata, status }) => metadata.name.startsWith(name) && status?.phase === 'Running',
        );
        if (pod !== undefined) return { cluster, pod: pod.metadata.name, namespace: 'vision' };
      }
    }
  }
  async function opened(page: Page, name: string, pod: string): Promise<void> {
    await page.goto(`${page.url().split('#')[0]}#/jobs/vision/${name}?tab=pods`);
    await page.getByRole('button', { name: pod }).click();
  }

  test('is followed to its end, searched and downloaded, and stays when its pod goes', async () => {
    const { cluster, pod, namespace } = await running('trained');
    dashboard.book.write(pod, 'loading 4 shards', HOSTILE, 'epoch 1 loss 0.412');
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'ann' });
    await opened(page, 'trained', pod);
    await shows(page, '.log pre', 'epoch 1 loss 0.412');
    await page.locator('.log .pulse.live').waitFor();
    dashboard.book.write(pod, 'epoch 2 loss 0.337');
    await shows(page, '.log pre', 'epoch 2 loss 0.337');
    expect(await page.locator('.log img, .log script').count()).toBe(0);
    expect(await page.evaluate(() => Object.hasOwn(globalThis, 'owned'))).toBe(false);

    await page.getByLabel('Search in the log').fill('LOSS');
    await page.getByRole('status').filter({ hasText: '2 of 4 lines' }).waitFor();
    expect(await page.locator('.log mark').allInnerTexts()).toEqual(['loss', 'loss']);
    // What comes is searched, too.
    dashboard.book.write(pod, 'epoch 3 loss 0.291');
    await shows(page, '.log pre', '0.291');
    await page.getByLabel('Search in the log').fill('');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    expect(download.suggestedFilename()).toBe(`${pod}.log`);
    expect(readFileSync(await download.path(), 'utf8')).toBe(
      `loading 4 shards\n${HOSTILE}\nepoch 1 loss 0.412\nepoch 2 loss 0.337\nepoch 3 loss 0.291\n`,
    );
    expect(await accessibilityProblems(page)).toEqual([]);

    dashboard.book.write(pod, 'saved the model');
    dashboard.book.end(pod);
    const status = { phase: 'Succeeded' };
    await dashboard.world.client(cluster).patchStatus(PODS, { namespace, name: pod }, { type: 'merge', body: { status } });
    await shows(page, '.log-head', 'the pod has ended');
    expect(await page.locator('.log pre').innerText()).toContain('saved the model');
    await shows(page, '.job-page > header', 'complete');
    expect(await page.locator('.log pre').innerText()).toContain('epoch 1 loss 0.412');
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('goes on where it was when the connection was cut: no line is lost, none is told twice', async () => {
    const { pod } = await running('cut-off');
    const cable = await createCable(Number(new URL(dashboard.url).port));
    const { page, context } = await openPage(browser, cable.url, { token: 'admin' });
    const numbered = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, line) => `line ${from + line}`);
    dashboard.book.write(pod, ...numbered(0, 30));
    await opened(page, 'cut-off', pod);
    await shows(page, '.log pre', 'line 29');
    cable.cut();
    await shows(page, '.log-head', 'not live');
    dashboard.book.write(pod, ...numbered(30, 50));
    await dashboard.world.clock.advance(2_000);
    dashboard.book.write(pod, ...numbered(50, 60));
    cable.mend();
    await shows(page, '.log pre', 'line 59');
    expect((await page.locator('.log pre').innerText()).trimEnd().split('\n')).toEqual(numbered(0, 60));
    await context.close();
    await cable.close();
  });
});
