/**
 * Ways through the dashboard, in a browser before a server that says what a test wants it to say: keys, links, narrow screens, and what is
 * kept.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobPage, JobView, PodView, UsageView } from '../../manager/dashboard/views.ts';
import { accessibilityProblems, CHROMIUM } from '../support/browser.ts';
import { createPageAlone, event, line, VIEW, type PageAlone } from './dashboard-alone.ts';

const TOTALS = { kind: 'Totals', states: { Waiting: 11, NeverFits: 1, Running: 5, Failed: 3 }, namespaces: 1 } as const;
const queue = (name: string, parts: object = {}) =>
  ({
    kind: 'Queue',
    name,
    health: 'Good',
    strategy: 'BestEffortFIFO',
    waiting: 0,
    admitted: 0,
    quota: [],
    causes: [],
    first: [],
    ...parts,
  }) as const;
const ITEMS = {
  totals: TOTALS,
  'queue/main': queue('main', { waiting: 990, cohort: 'lab', causes: [{ cause: 'short of cpu', count: 989 }] }),
  'queue/other': queue('other'),
  'cohort/lab': { kind: 'Cohort', name: 'lab', quota: [] },
  'cluster/east': { kind: 'Cluster', name: 'east', health: 'Bad', state: 'Lost', fills: [], jobs: 2, running: [] },
} as const;
const failed = line('report', { state: 'Failed', reason: 'BackoffLimitExceeded', why: 'Job has reached the specified backoff limit' });
const pod = (name: string, parts: Partial<PodView>): PodView => ({ pod: name, cluster: 'east', phase: 'Failed', hasLog: true, ...parts });
const FAILED: JobView = {
  ...VIEW,
  line: failed,
  pods: [
    pod('report-a', { endedMs: 1_000 }),
    pod('report-b', { endedMs: 2_000, exitCode: 3 }),
    pod('report-c', { endedMs: 3_000, phase: 'Succeeded' }),
  ],
};
const LOG = Array.from({ length: 30 }, (_, number) => `step ${number + 1} <b>bold</b>`).join('\n');

describe.skipIf(CHROMIUM === undefined)('a way through the dashboard', () => {
  let alone: PageAlone;
  beforeAll(async () => {
    alone = await createPageAlone();
  });
  afterAll(() => alone?.close());
  const look: PageAlone['look'] = (...asked) => alone.look(...asked);

  test('leads by Ctrl K to any page, queue, cluster or Job, and by ? to the keys', async () => {
    const asked: string[] = [];
    const page = await look(
      '/yard',
      {
        jobs: (route) => {
          asked.push(new URL(route.request().url()).search);
          return route.fulfill({ json: { total: 1, offset: 0, jobs: [line('eastern')] } satisfies JobPage });
        },
        eastern: (route) => route.fulfill({ json: { ...VIEW, line: line('eastern') } }),
      },
      { items: ITEMS },
    );
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    await page.keyboard.press('Control+k');
    const find = page.getByRole('combobox', { name: 'Find a page' });
    await find.fill('east');
    await page.getByRole('option', { name: 'team/eastern Job' }).waitFor();
    expect(await page.getByRole('listbox').getByRole('option').allInnerTexts()).toEqual([
      expect.stringMatching(/^east\s*cluster$/),
      expect.stringMatching(/^team\/eastern\s*Job$/),
    ]);
    expect(asked).toEqual(['?text=east&limit=8']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await find.press('ArrowDown');
    await find.press('Enter');
    await page.getByRole('heading', { name: 'eastern', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Meta+k');
    await find.fill('other');
    await find.press('Enter');
    await page.getByRole('heading', { name: 'other', level: 1 }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Clusters', level: 1 }).waitFor();
  });

  test('goes through rows by j and k, and tells why of the one that it has come to', async () => {
    const why = 'cluster queue main: flavor default is short of 2 cpu; flavor spot is short of 4 cpu';
    const jobs = [line('one'), line('two', { why, cause: 'short of cpu' }), line('three')];
    const page = await look('/jobs', { jobs: (route) => route.fulfill({ json: { total: 3, offset: 0, jobs } satisfies JobPage }) });
    await page.getByRole('cell', { name: 'team/two', exact: true }).waitFor();
    for (const [key, name] of [
      ['j', 'team/one'],
      ['j', 'team/two'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await page.evaluate('document.activeElement?.textContent')).toBe(name);
    }
    await page.getByRole('tooltip').filter({ hasText: why }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    await page.keyboard.press('k');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('team/one');
    await page.getByRole('cell', { name: 'flavor default is short of 2 cpu' }).hover();
    await page.getByRole('tooltip').filter({ hasText: 'spot' }).waitFor();
    // In a field these are letters.
    await page.locator('#filter-text').fill('');
    await page.locator('#filter-text').press('j');
    expect(await page.locator('#filter-text').inputValue()).toBe('j');
  });

  test('leads from each number to the Jobs that it counts, and by crumbs back', async () => {
    const asked: URLSearchParams[] = [];
    const page = await look(
      '/queues',
      {
        jobs: (route) => {
          asked.push(new URL(route.request().url()).searchParams);
          return route.fulfill({ json: { total: 0, offset: 0, jobs: [] } satisfies JobPage });
        },
      },
      { items: ITEMS },
    );
    expect(await page.getByRole('link', { name: 'Queues' }).getAttribute('aria-current')).toBe('page');
    await page.getByRole('link', { name: '989 short of cpu' }).click();
    await page.getByRole('button', { name: 'waits: short of cpu' }).waitFor();
    expect(Object.fromEntries(asked.at(-1) ?? [])).toMatchObject({
      clusterQueue: 'main',
      cause: 'short of cpu',
      state: 'Waiting,NeverFits,Held',
    });
    await page.getByRole('link', { name: '1 can never run' }).click();
    await page.getByRole('button', { name: 'can never run', pressed: true }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('link', { name: 'main', exact: true }).click();
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'cohort lab' }).click();
    await page.getByRole('heading', { name: 'Cohort lab' }).waitFor();
    expect(await page.getByRole('link', { name: 'other', exact: true }).count()).toBe(0);
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Queues' }).click();
    await page.getByRole('link', { name: 'other', exact: true }).waitFor();
  });

  test('shows on a phone what failed beside what waits, and in each row where a Job is', async () => {
    const jobs = [line('one', { state: 'Running', cluster: 'east', completions: 8, succeeded: 3 })];
    const page = await look(
      '/jobs',
      { jobs: (route) => route.fulfill({ json: { total: 1, offset: 0, jobs } satisfies JobPage }) },
      { items: ITEMS, width: 390 },
    );
    for (const name of ['11 waiting', '5 running', '3 failed']) {
      const box = await page.getByRole('group', { name: 'Jobs by state' }).getByRole('link', { name }).boundingBox();
      expect(box?.x ?? Number.NaN, name).toBeLessThan(390);
    }
    await page.getByText('main · east · 3/8').waitFor();
    await page.getByRole('link', { name: '3 failed' }).click();
    await page.getByRole('button', { name: 'failed', pressed: true }).waitFor();
    expect(page.url()).toContain('state=Failed');
    for (const place of ['queues', 'clusters', 'usage']) {
      await page.evaluate(`location.hash = '#/${place}'`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBeLessThanOrEqual(390);
    }
  });

  test('shows under why a Job failed the end of the log of the pod that failed last', async () => {
    const asked: string[] = [];
    const page = await look('/jobs/team/report', {
      report: (route) => route.fulfill({ json: { ...FAILED, may: [] } }),
      log: (route) => {
        asked.push(new URL(route.request().url()).pathname);
        return route.fulfill({ json: { log: `${LOG}\n` } });
      },
    });
    const log = page.getByLabel('End of the log of report-b');
    await log.waitFor();
    expect((await log.innerText()).split('\n')).toEqual(LOG.split('\n').slice(-20));
    await page.getByText('exit code 3').waitFor();
    expect(asked).toEqual(['/api/v1/namespaces/team/jobs/report/pods/report-b/log']);
    expect(await accessibilityProblems(page)).toEqual([]);
    const refused = await look('/jobs/team/report', {
      report: (route) => route.fulfill({ json: { ...FAILED, may: [] } }),
      log: (route) => route.fulfill({ status: 403, json: { message: 'you may not get pods/log in namespace team' } }),
    });
    await refused.getByText('you may not get pods/log in namespace team').waitFor();
    expect(await refused.locator('main').innerText()).toContain('Job has reached the specified backoff limit');
  });

  test('tells of each placement of a Job that has moved, and of a Job that Switchyard does not run what to do', async () => {
    const placements = [
      { cluster: 'west', fromMs: 0, untilMs: 600_000 },
      { cluster: 'east', fromMs: 900_000 },
    ];
    const exists = 'the Job team/alone exists, and Switchyard does not run it: add the label with the name of a LocalQueue';
    const page = await look('/jobs/team/trainer', {
      trainer: (route) => route.fulfill({ json: { ...VIEW, placements } }),
      alone: (route) => route.fulfill({ status: 404, json: { message: exists, reason: 'NotManaged' } }),
    });
    const table = page.locator('.card:has(h2:text-is("Placements"))');
    await table.getByRole('link', { name: 'west' }).waitFor();
    expect(await table.getByRole('row').allInnerTexts()).toEqual([
      expect.anything(),
      expect.stringMatching(/^west[^]*10m/),
      expect.stringMatching(/^east[^]*now$/),
    ]);
    await page.evaluate("location.hash = '#/jobs/team/alone'");
    await page.getByRole('heading', { name: 'Switchyard does not run team/alone' }).waitFor();
    await page.getByText(exists).waitFor();
  });

  test('shows the columns that somebody has chosen, also next time', async () => {
    const jobs = [line('one', { user: 'oidc:ann' })];
    const page = await look('/jobs', { jobs: (route) => route.fulfill({ json: { total: 1, offset: 0, jobs } satisfies JobPage }) });
    await page.getByText('Columns').first().click();
    await page.getByRole('checkbox', { name: 'User' }).check();
    await page.getByRole('checkbox', { name: 'Took' }).uncheck();
    await page.getByRole('cell', { name: 'oidc:ann' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.evaluate("location.hash = '#/yard'");
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    await page.evaluate("location.hash = '#/jobs'");
    await page.getByRole('columnheader', { name: 'User' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Took' }).count()).toBe(0);
  });

  test('asks for canaries only where somebody wants to see them, and takes what is typed into the address of then', async () => {
    const asked: URLSearchParams[] = [];
    const page = await look('/jobs', {
      jobs: (route) => {
        asked.push(new URL(route.request().url()).searchParams);
        return route.fulfill({ json: { total: 0, offset: 0, jobs: [] } satisfies JobPage });
      },
    });
    await page.getByRole('checkbox', { name: 'canaries' }).check();
    await page.waitForURL(/canaries=1/);
    expect(asked.map((query) => query.get('canaries'))).toEqual([null, '1']);
    // Within the quarter of a second in which typing waits for more.
    await page.evaluate(`{
      const field = document.querySelector('#filter-text');
      field.value = 'train';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      location.hash = '#/jobs?state=Failed';
    }`);
    await page.waitForURL(/text=train/);
    expect(page.url()).toContain('state=Failed');
    expect(page.url()).not.toContain('canaries');
  });

  test('shows who used what, at the prices that the browser keeps', async () => {
    const usage: UsageView = {
      by: 'namespace',
      fromMs: 0,
      untilMs: 1,
      rows: [
        { name: 'vision', jobs: 12, failed: 1, admittedHours: 40, hours: { cpu: 80, 'nvidia.com/gpu': 20 } },
        { name: '', jobs: 1, failed: 0, admittedHours: 1, hours: { cpu: 2 } },
      ],
      isPartial: true,
    };
    const asked: string[] = [];
    const page = await look('/usage', {
      usage: (route) => {
        asked.push(new URL(route.request().url()).search);
        return route.fulfill({ json: usage });
      },
    });
    await page.getByText('the earliest are missing').waitFor();
    expect(await page.getByRole('columnheader', { name: 'Cost' }).count()).toBe(0);
    await page.getByLabel('of a nvidia.com/gpu hour').fill('2.5');
    await page.getByLabel('of a core hour').fill('0.1');
    await page.getByRole('cell', { name: '58.00' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'user', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Cost' }).waitFor();
    expect(asked[0]).toBe('?by=namespace&days=30');
    await expect.poll(() => asked.at(-1)).toBe('?by=user&days=30');
    await page.getByRole('link', { name: 'namespace', exact: true }).click();
    expect(await page.getByRole('link', { name: 'vision' }).getAttribute('href')).toBe('#/jobs?namespace=vision');
  });

  test('keeps no token in the address, also of a tab that is open, and asks for one with the focus on its field', async () => {
    const page = await look('/yard', {});
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    await page.evaluate("location.hash = '#/jobs?token=secret'");
    await page.getByRole('cell', { name: 'team/job-0', exact: true }).waitFor();
    expect(page.url()).not.toContain('secret');
    await page.getByRole('button', { name: 'operator' }).click();
    await page.getByLabel('Token').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('token');
  });

  test('says how long the server has been silent, and no longer that all is well', async () => {
    const page = await look('/yard', {});
    await page.clock.install();
    // A stream that begins, and then hangs without an end.
    await page.addInitScript(
      (text) => {
        const send = globalThis.fetch;
        globalThis.fetch = async (input, init) =>
          String(input).endsWith('/stream')
            ? new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(text)) }))
            : send(input, init);
      },
      event(1, 'yard', { items: {}, jobs: [], lines: [], gone: [], more: 0, atMs: 0 }),
    );
    await page.goto(`${new URL(page.url()).origin}/?silent#/yard?token=operator`);
    await page.locator('.pulse.live', { hasText: /updated \d+s ago/ }).waitFor();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await page.clock.fastForward(25_000);
    await page.locator('.pulse.silent', { hasText: /updated 2\ds ago/ }).waitFor();
  });
});
