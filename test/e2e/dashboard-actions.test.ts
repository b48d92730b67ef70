/** What is done from the dashboard, by hands that click in a browser, with a whole Switchyard that carries it out. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { accessibilityProblems, CHROMIUM, NO_CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { createDashboardWorld, START_LIMIT_MS, type DashboardWorld } from './dashboard-world.ts';

if (CHROMIUM === undefined) console.warn(`nothing is done in a browser: ${NO_CHROMIUM}`);

describe.skipIf(CHROMIUM === undefined)('in a browser', () => {
  let dashboard: DashboardWorld;
  let browser: Browser;
  beforeAll(async () => {
    [dashboard, browser] = await Promise.all([createDashboardWorld({ actions: true }), openBrowser()]);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });

  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    dashboard.until(async () => (await page.locator(selector, { hasText: text }).count()) > 0);
  const jobs = async (namespace: string): Promise<string[]> =>
    (await dashboard.world.home.list(JOBS, { namespace })).items.map(({ metadata }) => metadata.name).toSorted();
  const clusterOf = async (name: string): Promise<string | undefined> =>
    (await dashboard.world.home.get(JOBS, { namespace: 'vision', name })).metadata.labels?.['switchyard.dev/cluster'];

  test('a Job is held, released and cancelled on its page', async () => {
    await dashboard.submit('reports', 'monthly', { seconds: 3_600 });
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.goto(`${dashboard.url}/#/jobs/reports/monthly`);
    await shows(page, '.state', 'running');
    const stored = () => dashboard.world.home.get(JOBS, { namespace: 'reports', name: 'monthly' });
    await page.getByRole('button', { name: 'Hold …' }).click();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hold 1 Job' }).click();
    await shows(page, 'dialog', 'Done with 1 of 1');
    await page.getByRole('button', { name: 'Close' }).click();
    await shows(page, '.state', 'held');
    expect((await stored()).metadata.annotations).toHaveProperty([HOLD_ANNOTATION]);
    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByRole('button', { name: 'Release 1 Job' }).click();
    await shows(page, 'dialog', 'Done with 1 of 1');
    await page.getByRole('button', { name: 'Close' }).click();
    await shows(page, '.state', 'running');
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page
      .getByRole('button', { name: 'Leave it' })
      .or(page.getByRole('button', { name: 'Leave them' }))
      .click();
    expect(await jobs('reports')).toEqual(['monthly']);
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('button', { name: 'Cancel 1 Job' }).click();
    await dashboard.until(async () => (await jobs('reports')).length === 0);
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('many Jobs are cancelled by whoever types how many they are, and by nobody else', async () => {
    for (const name of ['old-1', 'old-2', 'new-1']) await dashboard.submit('language', name, { seconds: 3_600 });
    const { page } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.goto(`${dashboard.url}/#/jobs?text=old-`);
    await shows(page, '[role=status]', '2 Jobs');
    await page.getByRole('button', { name: 'Cancel …' }).click();
    const sure = page.getByRole('button', { name: 'Cancel 2 Jobs' });
    await page.getByLabel('Type 2 to go on').fill('3');
    expect(await sure.isDisabled()).toBe(true);
    await page.getByLabel('Type 2 to go on').fill('2');
    await sure.click();
    await shows(page, 'dialog', 'Done with 2 of 2');
    await dashboard.until(async () => (await jobs('language')).join() === 'new-1');
  });

  test('a cluster is drained, and its Jobs go elsewhere', async () => {
    await dashboard.submit('vision', 'moves', { seconds: 36_000 });
    await dashboard.until(async () => (await clusterOf('moves')) !== undefined);
    const before = (await clusterOf('moves')) ?? expect.unreachable();
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.goto(`${dashboard.url}/#/clusters/${before}`);
    await shows(page, '.wagon', 'moves');
    await page.getByRole('button', { name: 'Drain …' }).click();
    await page.getByRole('button', { name: `Drain ${before} of` }).click();
    await shows(page, 'article > header', 'Draining');
    await dashboard.until(async () => ![undefined, before].includes(await clusterOf('moves')));
    expect((await dashboard.world.home.get(WORKER_CLUSTERS, { namespace: '', name: before })).spec.state).toBe('Draining');
    await page.getByRole('button', { name: 'Uncordon …' }).click();
    await page.getByRole('button', { name: `Uncordon ${before}` }).click();
    await shows(page, 'article > header', 'Ready');
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('whoever may not do it is offered nothing for one Job, is told so of those that he chooses, and nothing is done', async () => {
    await dashboard.submit('vision', 'hers', { seconds: 3_600 });
    const { page } = await openPage(browser, dashboard.url, { token: 'ann' });
    await page.goto(`${dashboard.url}/#/jobs/vision/hers`);
    await shows(page, '.state', 'running');
    expect(await page.getByRole('button', { name: /^(Cancel|Hold)/ }).count()).toBe(0);
    await page.goto(`${dashboard.url}/#/jobs?text=hers`);
    await page.getByLabel('Choose vision/hers').check();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('button', { name: 'Cancel 1 Job' }).click();
    await shows(page, 'dialog', 'vision/hers: refused');
    expect(await jobs('vision')).toContain('hers');
    // A form of another site can neither send the header, nor say that it is this site.
    const forged = (headers: Record<string, string>) =>
      fetch(`${dashboard.url}/api/v1/actions`, {
        method: 'POST',
        headers: { authorization: 'Bearer admin', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ action: 'Cancel', jobs: ['vision/hers'], count: 1 }),
      });
    expect((await forged({})).status).toBe(403);
    expect((await forged({ 'x-switchyard-dashboard': '1', 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await jobs('vision')).toContain('hers');
  });
});
