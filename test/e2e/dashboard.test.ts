/** The dashboard as people see it: a browser, a whole Switchyard behind it, and hands that type and click. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { finishedCondition } from '../../shared/kube/conditions.ts';
import { accessibilityProblems, CHROMIUM, createCable, NO_CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { CLUSTERS, createDashboardWorld, START_LIMIT_MS, type DashboardWorld } from './dashboard-world.ts';

if (CHROMIUM === undefined) console.warn(`the dashboard is not looked at in a browser: ${NO_CHROMIUM}`);

/** What another colour scheme can break. */
const RULES_OF_COLOUR = ['color-contrast', 'link-in-text-block'];
const HOSTILE = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>javascript:owned=1`;

describe.skipIf(CHROMIUM === undefined)('in a browser the dashboard', () => {
  let dashboard: DashboardWorld;
  let browser: Browser;
  beforeAll(async () => {
    [dashboard, browser] = await Promise.all([createDashboardWorld(), openBrowser()]);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });

  /** Time goes on until the page shows this. */
  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    dashboard.until(async () => (await page.locator(selector, { hasText: text }).count()) > 0);

  test('asks for a token, and shows a Job from its start to its end', async () => {
    const { page, misdeeds } = await openPage(browser, dashboard.url);
    await page.getByLabel('Token').fill('forged');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'the token is not valid in this cluster' }).waitFor();
    await page.getByLabel('Token').fill('admin');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    expect(await page.getByRole('article').filter({ hasText: 'frankfurt' }).count()).toBe(1);

    await dashboard.submit('vision', 'from-start', { seconds: 600 });
    await shows(page, '.rails .wagon.running', 'from-start');
    await page.locator('.rails .wagon', { hasText: 'from-start' }).click();
    await page.getByRole('heading', { name: 'from-start', level: 1 }).waitFor();
    await shows(page, '.job-page > header', 'running');
    await dashboard.world.clock.advance(600_000);
    await shows(page, '.job-page > header', 'complete');
    await page.goBack();
    await shows(page, '.ended .wagon.complete', 'from-start');
    await page.goto(`${dashboard.url}/#/jobs/vision/from-start?tab=events`);
    await shows(page, '.card tbody', 'Finished');
    expect(await page.evaluate('Object.values({ ...localStorage, ...sessionStorage }).join()')).not.toContain('admin');
    await page.reload();
    await page.getByLabel('Token').waitFor();
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('explains a Job that waits, and names what would make it run', async () => {
    await dashboard.submit('reports', 'too-large', { cpu: '40' });
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await shows(page, '.queue .wagon.neverfits', 'too-large');
    // The token is in no history and no bookmark.
    expect(page.url()).not.toContain('admin');
    await page.goto(`${dashboard.url}/#/jobs/reports/too-large`);
    await shows(page, '.changes h2', 'It would run now if');
    expect(await page.locator('.changes').innerText()).toContain('cpu');
    await page.getByRole('heading', { name: 'Why it can never run' }).waitFor();
    // Without --dashboard-actions there is nothing to press.
    expect(await page.getByRole('button', { name: /^(Cancel|Hold|Release|Drain|Cordon)/ }).count()).toBe(0);
    await page.goto(`${dashboard.url}/#/jobs?state=NeverFits&text=large`);
    await page.getByRole('cell', { name: 'too-large' }).waitFor();
    await page.getByRole('cell', { name: 'can never run' }).waitFor();
    // Jobs that only wait are counted by what they wait for.
    await page.getByRole('list', { name: 'Jobs by cause' }).getByRole('link', { name: '1 more than its quota' }).waitFor();
    expect(await page.getByRole('status').filter({ hasText: '1 Job' }).count()).toBe(1);
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('shows a queue with its order, its loans and who uses it, and a cluster with what happens when it is out of reach', async () => {
    for (const name of ['lent-1', 'lent-2', 'lent-3', 'lent-4']) await dashboard.submit('language', name, { cpu: '8', seconds: 3_600 });
    const { page, context, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.goto(`${dashboard.url}/#/queues/language`);
    await shows(page, '.card:has(h2:text-is("What it borrows, and who has it to spare"))', '12');
    await shows(page, '.card:has(h2:text-is("What it borrows, and who has it to spare"))', 'vision');
    await shows(page, '.card:has(h2:text-is("What waits, in its order"))', 'lent-');
    await shows(page, '.card:has(h2:text-is("Who uses it"))', 'language');
    const whatIf = page.locator('.card:has(h2:text("What if"))');
    await whatIf.getByLabel('cpu of default in cores', { exact: true }).fill('24');
    await shows(page, '.card:has(h2:text("What if"))', 'would be admitted');
    await shows(page, '.card:has(h2:text("What if"))', 'kubectl patch clusterqueue language');
    // Less quota takes nobody's place away; the slider is moved by keys, too.
    await whatIf.getByLabel('cpu of default, slider').press('Home');
    await shows(page, '.card:has(h2:text("What if"))', 'No Job that you may see is affected');
    for (const cluster of CLUSTERS) await whatIf.getByLabel(`${cluster} drained`).check();
    await shows(page, '.card:has(h2:text("What if"))', '3 Jobs would lose their place');
    await whatIf.getByRole('button', { name: 'as it is' }).click();
    await shows(page, '.card:has(h2:text("What if"))', 'Nothing is changed by looking');
    await page.goto(`${dashboard.url}/#/clusters/tokyo`);
    await shows(page, '.card h2', 'Fence and Lease');
    await shows(page, '.card:has(h2:text-is("Conditions"))', 'Reachable');
    await shows(page, '.command', 'switchyard clusters drain tokyo');
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
    await context.close();
    for (const name of ['lent-1', 'lent-2', 'lent-3', 'lent-4']) await dashboard.world.home.delete(JOBS, { namespace: 'language', name });
  });

  test('looks back at a moment, by keys and by pointing, and comes back to now', async () => {
    await dashboard.submit('reports', 'of-the-past', { seconds: 90 });
    const running = async (): Promise<boolean> =>
      ((await dashboard.world.home.get(JOBS, { namespace: 'reports', name: 'of-the-past' })).status?.active ?? 0) > 0;
    await dashboard.until(running);
    const whileItRan = dashboard.world.clock.now() + 5_000;
    await dashboard.until(async () => !(await running()));
    await dashboard.world.clock.advance(30_000);
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.locator('.time-line .chart canvas').first().waitFor();
    // Levels and flows have an axis each.
    expect(await page.locator('.time-line figcaption').allInnerTexts()).toEqual([
      expect.stringMatching(/wait and run[^]*waiting[^]*running/),
      expect.stringMatching(/admitted and ended[^]*failed[^]*complete/),
    ]);
    await page.getByText('as a table').click();
    await shows(page, '.time-line td', '1');
    // By its address, as somebody would send it.
    await page.goto(`${dashboard.url}/#/yard?at=${whileItRan}`);
    await shows(page, '.past', 'The yard as it was at');
    await shows(page, '.clusters .wagon.running', 'of-the-past');
    expect(await page.locator('.ended').count()).toBe(0);
    await page.getByRole('link', { name: 'back to now' }).click();
    await page.locator('.ended').waitFor();
    expect(page.url()).not.toContain('at=');
    await page.getByRole('slider', { name: 'Moment' }).press('ArrowLeft');
    await shows(page, '.past', 'The yard as it was at');
    await page.keyboard.press('Escape');
    await page.locator('.ended').waitFor();
    const box = (await page.locator('.time-line .u-over').first().boundingBox()) ?? expect.unreachable();
    await page.mouse.click(box.x + 5, box.y + 20);
    await shows(page, '.clusters', 'Nothing ran that you may see');
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('shows each of two tenants his own alone', async () => {
    await dashboard.submit('vision', 'of-ann', { seconds: 60 });
    await dashboard.submit('language', 'of-bob', { seconds: 60 });
    for (const [person, own, other] of [
      ['ann', 'of-ann', 'of-bob'],
      ['bob', 'of-bob', 'of-ann'],
    ] as const) {
      const { page, context } = await openPage(browser, dashboard.url, { token: person });
      await page.goto(`${dashboard.url}/#/jobs`);
      await page.getByRole('cell', { name: own }).waitFor();
      expect(await page.locator('body').innerText()).not.toContain(other);
      await page.goto(`${dashboard.url}/#/jobs/${person === 'ann' ? 'language' : 'vision'}/${other}`);
      await page.getByText('You may not see this Job').waitFor();
      await context.close();
    }
    const { page } = await openPage(browser, dashboard.url, { token: 'nobody' });
    await page.getByText('There is nothing here that you may see').waitFor();
  });

  test('says that its connection is cut, and goes on where it was without a gap', async () => {
    const cable = await createCable(Number(new URL(dashboard.url).port));
    const { page, context } = await openPage(browser, cable.url, { token: 'admin' });
    await page.locator('.pulse.live').waitFor();
    const asked: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/stream')) asked.push(request.headers()['last-event-id']);
    });
    cable.cut();
    await page.getByRole('alert').filter({ hasText: 'connection to the manager is lost' }).waitFor();
    await dashboard.submit('language', 'meanwhile', { cpu: '40' });
    await dashboard.world.clock.advance(3_000);
    cable.mend();
    await shows(page, '.queue .wagon.neverfits', 'meanwhile');
    await page.locator('.pulse.live').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    // It has asked for what came since, not for everything anew.
    expect(asked.at(-1)).toMatch(/\S/);
    await context.close();
    await cable.close();
  });

  test('groups Jobs by a label and by who created them, whether they wait, run or are over', async () => {
    const labels = { 'example.com/study': 'red' };
    await dashboard.submit('vision', 'of-red-over', { seconds: 1, labels, user: 'oidc:ann' });
    await dashboard.submit('vision', 'of-red-runs', { seconds: 3_600, labels, user: 'oidc:ann' });
    await dashboard.submit('vision', 'of-red-held', { labels, user: 'oidc:bob', annotations: { [HOLD_ANNOTATION]: 'true' } });
    await dashboard.until(async () => {
      const { status } = await dashboard.world.home.get(JOBS, { namespace: 'vision', name: 'of-red-over' });
      return finishedCondition(status) !== undefined;
    });
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    await page.goto(`${dashboard.url}/#/jobs?label=example.com/study&group=label`);
    await page.getByRole('list', { name: 'Jobs by label' }).getByRole('link', { name: '3 red' }).click();
    for (const name of ['over', 'runs', 'held']) await page.getByRole('cell', { name: `of-red-${name}` }).waitFor();
    await page.getByLabel('Group by').selectOption('user');
    await page.getByRole('list', { name: 'Jobs by user' }).getByRole('link', { name: '1 oidc:bob' }).waitFor();
    await page.getByRole('link', { name: '2 oidc:ann' }).click();
    await page.getByRole('button', { name: 'user: oidc:ann' }).waitFor();
    await page.getByRole('link', { name: 'of-red-over' }).click();
    await page.locator('aside').getByText('oidc:ann').waitFor();
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  test('takes what people write into their objects for text', async () => {
    await dashboard.submit('vision', 'hostile', {
      seconds: 1,
      exitCode: 3,
      annotations: { 'switchyard.dev/description': HOSTILE, note: HOSTILE },
      spec: { backoffLimit: 0 },
    });
    await dashboard.world.clock.advance(10_000);
    const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'admin' });
    for (const tab of ['', '?tab=pods', '?tab=conditions', '?tab=yaml']) {
      await page.goto(`${dashboard.url}/#/jobs/vision/hostile${tab}`);
      await page.locator('.job-page').waitFor();
    }
    await page.getByText('<img src=x').first().waitFor();
    await page.goto(`${dashboard.url}/#/jobs?text=${encodeURIComponent(HOSTILE)}&reason=${encodeURIComponent(HOSTILE)}`);
    await page.getByText('No Job is like that').waitFor();
    await page.goto(`${dashboard.url}/#/${HOSTILE}`);
    await page.getByText('There is no such page').waitFor();
    expect(await page.locator('#app img, #app script').count()).toBe(0);
    expect(await page.evaluate(() => Object.hasOwn(globalThis, 'owned'))).toBe(false);
    expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
  });

  describe('every page says', () => {
    /** What the server answers to what a page asks for. */
    type Instead = { readonly status: number | 'Nothing' };
    const json = (message: string) => JSON.stringify({ kind: 'Status', message });
    const PAGES = [
      { place: 'jobs', asked: '**/api/v1/jobs?*' },
      { place: 'jobs/vision/opened', asked: '**/jobs/opened' },
      { place: 'jobs/vision/opened?tab=events', asked: '**/opened/events' },
      { place: 'jobs/vision/opened?tab=yaml', asked: '**/opened/yaml' },
      { place: 'submissions', asked: '**/api/v1/submissions' },
      { place: 'usage', asked: '**/api/v1/usage?*' },
      { place: `yard?at=${Date.UTC(2026, 0, 1)}`, asked: '**/api/v1/yard?*' },
    ];
    beforeAll(() => dashboard.submit('vision', 'opened', { seconds: 600 }));

    /** One page that goes from place to place, and is answered otherwise for each. */
    const visiting = async (status: Instead['status'], look: (page: Page, place: string) => Promise<void>): Promise<void> => {
      const { page, context } = await openPage(browser, dashboard.url, { token: 'admin' });
      await page.locator('.yard').waitFor();
      for (const { place, asked } of PAGES) {
        const instead = async (route: Route): Promise<void> => {
          if (status !== 'Nothing') await route.fulfill({ status, contentType: 'application/json', body: json('it was made to fail') });
        };
        await page.route(asked, instead);
        await page.goto(`${dashboard.url}/#/${place}`);
        await look(page, place);
        await page.unroute(asked, instead);
        await page.goto(`${dashboard.url}/#/nowhere`);
      }
      await context.close();
    };

    test('that it waits for an answer', async () => {
      await visiting('Nothing', (page) => page.locator('.notice.wait').waitFor());
    });

    test('what went wrong', async () => {
      await visiting(500, (page) => page.locator('.notice', { hasText: 'it was made to fail' }).waitFor());
    });

    test('to who may see nothing that it is so, and no name', async () => {
      const { page, misdeeds } = await openPage(browser, dashboard.url, { token: 'nobody' });
      for (const [place, told] of [
        ['yard', 'There is nothing here that you may see'],
        ['jobs', 'No Job is like that'],
        ['jobs/vision/from-start', 'You may not see this Job'],
        ['queues/vision', 'There is no queue vision that you may see'],
        ['queues', 'There is no queue here that you may see'],
        ['clusters', 'There is no cluster that you may see'],
        ['usage', 'No Job that has ended was admitted then'],
        ['clusters/oregon', 'There is no cluster oregon that you may see'],
        ['submissions', 'There is no queue of submissions that you may see'],
        ['nowhere', 'There is no such page'],
      ] as const) {
        await page.goto(`${dashboard.url}/#/${place}`);
        await page.locator('.notice', { hasText: told }).waitFor();
        expect(await page.locator('main').innerText()).not.toMatch(/of-ann|of-bob|frankfurt|language/);
      }
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(misdeeds).toEqual({ elsewhere: [], errors: [] });
    });
  });

  test('can be used by everybody: axe finds nothing on any page, light or dark', async () => {
    const { page } = await openPage(browser, dashboard.url, { token: 'admin' });
    const problems: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const place of [
        'yard',
        'jobs',
        'jobs?group=queue',
        'jobs/vision/from-start',
        'jobs/vision/hostile?tab=pods',
        'jobs/vision/hostile?tab=conditions',
        'jobs/vision/from-start?tab=events',
        'jobs/vision/hostile?tab=yaml',
        'jobs/reports/too-large',
        `yard?at=${dashboard.world.clock.now() - 60_000}`,
        'queues',
        'queues?cohort=company',
        'queues/vision',
        'clusters',
        'clusters/oregon',
        'submissions',
        'usage',
        'nowhere',
      ]) {
        await page.goto(`${dashboard.url}/#/${place}`);
        await page.locator('main :is(h1, .notice)').first().waitFor();
        await dashboard.until(async () => (await page.locator('.notice.wait').count()) === 0);
        problems.push(
          ...(await accessibilityProblems(page, colorScheme === 'dark' ? RULES_OF_COLOUR : undefined)).map(
            (each) => `${place} (${colorScheme}) ${each}`,
          ),
        );
      }
    }
    const { page: outside } = await openPage(browser, dashboard.url);
    await outside.getByLabel('Token').waitFor();
    problems.push(...(await accessibilityProblems(outside)));
    expect(problems).toEqual([]);
  });
});
