/**
 * The page alone, in a browser, before a server that says what a test wants it to say: what is done with many Jobs, and logs that go on.
 */
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClusterTimeLine } from '../../manager/dashboard/past-views.ts';
import type { ActionRequest, ActionResult, JobLine, JobPage, LivePods, QueueView, OverviewChange } from '../../manager/dashboard/views.ts';
import type { SubmissionsView } from '../../manager/dashboard/submission-views.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { accessibilityProblems, CHROMIUM } from '../support/browser.ts';
import { createPageAlone, event, line, RUNNING, VIEW, type PageAlone } from './dashboard-alone.ts';

describe.skipIf(CHROMIUM === undefined)('before a server that says what it is told to say, the page', () => {
  let alone: PageAlone;
  beforeAll(async () => {
    alone = await createPageAlone();
  });
  afterAll(() => alone?.close());
  const look: PageAlone['look'] = (...asked) => alone.look(...asked);

  test('does nothing to many Jobs before their number has been typed, and tells of each that was refused', async () => {
    const asked: ActionRequest[] = [];
    const headers: (string | undefined)[] = [];
    const result: ActionResult = {
      done: 1,
      results: [
        { name: 'team/job-0', outcome: 'Done' },
        { name: 'team/job-3', outcome: 'Refused', message: 'you may not delete jobs in namespace team' },
      ],
    };
    const page = await look('/jobs', {
      actions: async (route) => {
        asked.push(route.request().postDataJSON() as ActionRequest);
        headers.push(route.request().headers()['x-switchyard-dashboard']);
        await route.fulfill({ json: result });
      },
    });
    await page.getByRole('checkbox', { name: 'Choose team/job-0' }).check();
    await page.getByRole('checkbox', { name: 'Choose team/job-3' }).check();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 Jobs?' });
    const go = dialog.getByRole('button', { name: 'Cancel 2 Jobs' });
    expect(await go.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('5');
    await dialog.getByRole('textbox').press('Enter');
    expect(asked).toEqual([]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('textbox').fill('2');
    await go.click();
    await dialog.getByText('Done with 1 of 2.').waitFor();
    expect(await dialog.innerText()).toContain('team/job-3: refused, you may not delete jobs in namespace team');
    expect(asked).toEqual([{ action: 'Cancel', jobs: ['team/job-0', 'team/job-3'], count: 2 }]);
    expect(headers).toEqual(['1']);
    // Nothing chosen: all that the filter finds.
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Hold …' }).click();
    await page.getByRole('dialog', { name: 'Hold 5 Jobs?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(asked).toHaveLength(1);
  });

  test('follows the log of a pod over a break without a gap and without a line twice, to its end', async () => {
    const resumed: (string | undefined)[] = [];
    const parts = [
      event(7, 'lines', { text: 'step 1 <b>bold</b>\nste' }),
      event(8, 'lines', { text: 'p 2\n' }) + event(9, 'end', { reason: 'the pod has ended' }),
    ];
    const pods: LivePods = { cluster: 'east', pods: [{ pod: 'trainer-x1', phase: 'Running' }] };
    const page = await look('/jobs/team/trainer', {
      pods: (route) => route.fulfill({ json: pods }),
      log: async (route) => {
        resumed.push(route.request().headers()['last-event-id']);
        await route.fulfill({ contentType: 'text/event-stream', body: parts[resumed.length - 1] ?? '' });
      },
    });
    await page.getByRole('button', { name: 'trainer-x1' }).click();
    await page.getByText('the pod has ended').waitFor();
    expect(resumed).toEqual([undefined, '7']);
    const log = page.getByLabel('Log of trainer-x1');
    expect(await log.innerText()).toBe('step 1 <b>bold</b>\nstep 2\n');
    await page.getByRole('searchbox', { name: 'Search in the log' }).fill('BOLD');
    await page.getByText('1 of 2 lines').waitFor();
    expect(await log.locator('mark').allInnerTexts()).toEqual(['bold']);
    expect(await accessibilityProblems(page)).toEqual([]);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await saved).suggestedFilename()).toBe('trainer-x1.log');
  });

  test('shows an object of another kind beside the Job of its name, each under its kind and with a page of its own', async () => {
    const crew: JobLine = { ...RUNNING, key: 'team/crews.example.com/trainer', kind: 'Crew', uid: 'crew' };
    const asked: string[] = [];
    const page = await look('/jobs', {
      jobs: (route) => route.fulfill({ json: { total: 2, offset: 0, jobs: [RUNNING, crew] } satisfies JobPage }),
      trainer: async (route) => {
        const { pathname } = new URL(route.request().url());
        asked.push(pathname);
        await route.fulfill({ json: { ...VIEW, line: pathname.includes('/crews.example.com/') ? crew : RUNNING } });
      },
    });
    const links = page.getByRole('link', { name: 'team/trainer' });
    await links.nth(1).waitFor();
    expect(await links.allInnerTexts()).toEqual(['team/trainer', 'team/trainer Crew']);
    await links.nth(1).click();
    await page.getByRole('heading', { name: 'trainer', level: 1 }).waitFor();
    expect(page.url()).toContain('#/jobs/team/crews.example.com/trainer');
    expect(await page.locator('.job-page > header').innerText()).toContain('Crew');
    expect(asked).toEqual(['/api/v1/namespaces/team/crews.example.com/trainer']);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('shows what takes longer to find out than until the next change', async () => {
    const node = {
      kind: 'Queue',
      name: 'main',
      health: 'Good',
      strategy: 'StrictFIFO',
      waiting: 1,
      admitted: 0,
      quota: [],
      causes: [],
    } as const;
    const view: QueueView = {
      node: { ...node, first: [] },
      localQueues: [],
      weight: '1',
      loans: [],
      order: [{ place: 1, priority: 0, job: line('job-0') }],
      waiting: 1,
      conditions: [],
    };
    let [changes, isAnswered] = [0, false];
    const page = await look('/queues/main', {
      // Each stream tells of one more change, and ends: the page comes back for the next. They go on until an answer has come, and the
      // answer waits for some of them.
      async stream(route) {
        if (isAnswered) return;
        const items = { 'queue/main': { ...node, waiting: ++changes, first: [] } };
        await sleep(systemClock, 100);
        const change: OverviewChange = { items, jobs: [], lines: [], gone: [], more: 0, atMs: changes };
        await route.fulfill({ contentType: 'text/event-stream', body: event(changes, changes === 1 ? 'yard' : 'change', change) });
      },
      async main(route) {
        const before = changes;
        while (changes < before + 3) await sleep(systemClock, 20);
        isAnswered = true;
        await route.fulfill({ json: view });
      },
    });
    await page.getByRole('heading', { name: 'What waits, in its order' }).waitFor();
    expect(await page.getByRole('link', { name: 'team/job-0' }).getAttribute('href')).toBe('#/jobs/team/job-0');
  });

  test('shows what is submitted by tenant, and says why where it may not', async () => {
    const view: SubmissionsView = {
      queues: [
        {
          key: 'team/ml',
          health: 'Good',
          backlog: 1204,
          parked: 0,
          accepted: 48_211,
          refused: 3,
          account: 'ml-bot',
          weight: 2,
          conditions: [],
        },
        { key: 'team/ui', health: 'Bad', problem: 'NotReachable: redis.team:6379 does not answer', parked: 17, weight: 1, conditions: [] },
      ],
    };
    const page = await look('/submissions', { submissions: (route) => route.fulfill({ json: view }) });
    await page.getByRole('heading', { name: 'Submissions', exact: true }).waitFor();
    expect(await page.getByRole('main').innerText()).toMatch(
      /1,204 wait to become Jobs, 17 parked[^]*ml-bot[^]*48,211[^]*redis\.team:6379 does not answer/,
    );
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.context().close();
    const refused = await look('/submissions', {
      submissions: (route) => route.fulfill({ status: 403, json: { message: 'you may not list submissionqueues' } }),
    });
    await refused.getByText('you may not list submissionqueues').waitFor();
  });

  test('shows how full a cluster was, what was placed there and how it left, in hours that one can choose', async () => {
    const bucket = (fromMs: number, parts: object = {}) => ({ fromMs, placed: 0, complete: 0, failed: 0, left: 0, running: 0, ...parts });
    const asked: string[] = [];
    const told: ClusterTimeLine = {
      fromMs: 0,
      untilMs: 180_000,
      bucketMs: 60_000,
      buckets: [bucket(0, { placed: 7, running: 6, left: 1 }), bucket(60_000), bucket(120_000, { complete: 4, failed: 1, running: 1 })],
      held: [
        { resource: 'cpu', levels: [12, 12, 2.5], capacity: 16 },
        { resource: 'memory', levels: [2 ** 33, 2 ** 33, 2 ** 31], capacity: 2 ** 35 },
        { resource: 'pods', levels: [6, 6, 1] },
      ],
      note: 'no history is kept',
    };
    const cluster = { kind: 'Cluster', name: 'east', health: 'Good', state: 'Ready', fills: [], jobs: 1, running: [] } as const;
    const answers = {
      timeline: (route: Route) => {
        asked.push(new URL(route.request().url()).search);
        return route.fulfill({ json: told });
      },
    };
    const page = await look('/clusters/east', answers, { items: { 'cluster/east': cluster }, width: 390 });
    await page.getByRole('heading', { name: 'The last hours' }).waitFor();
    await page.locator('summary').click();
    const text = await page.getByRole('main').innerText();
    expect(text).toMatch(/cpu 2\.5 of 16[^]*memory 2 Gi of 32 Gi[^]*pods 1[^]*Jobs there 1[^]*7 placed, 1 left early/);
    expect(text).toMatch(/is not recorded\.[^]*no history is kept/);
    expect(await page.getByRole('row').allInnerTexts()).toEqual([
      expect.anything(),
      expect.stringMatching(/\s7\s+0\s+0\s+1\s+6$/),
      expect.stringMatching(/\s0\s+4\s+1\s+0\s+1$/),
    ]);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'week' }).click();
    await expect.poll(() => asked.at(-1)).toBe('?hours=168');
  });

  test('shows the shared queue, what was wrong with Redis last, and why submissions were refused last', async () => {
    const refusals = [
      {
        id: 'nightly-7',
        atMs: 0,
        namespace: 'team',
        name: 'etl',
        reason: 'Invalid',
        message: 'metadata.labels[switchyard.dev/queue-name]: is missing; set it to the name of a LocalQueue',
      },
      { id: '<b>8</b>', atMs: 0, reason: 'Invalid', message: 'the submission is no manifest' },
    ];
    const shared = { health: 'Bad', prefix: 'bull', queue: 'jobs', parked: 12, accepted: 9_120, refused: 48, refusals, hidden: 3 } as const;
    const redis = { reason: 'Full', message: 'the memory of Redis is full; raise maxmemory', sinceMs: 0 };
    const told: SubmissionsView = { queues: [], shared: { ...shared, redis } };
    const page = await look('/submissions', { submissions: (route) => route.fulfill({ json: told }) }, { width: 390 });
    await page.getByRole('heading', { name: 'The shared queue' }).waitFor();
    const text = await page.getByRole('main').innerText();
    expect(text).toMatch(/bull:jobs[^]*–[^]*12[^]*9,120[^]*48[^]*Redis, since[^]*Full: the memory of Redis is full/);
    expect(text).toMatch(/team\/etl Invalid: metadata\.labels[^]*nightly-7[^]*<b>8<\/b>[^]*3 of namespaces that you may not see/);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.context().close();
    const calm: SubmissionsView = {
      queues: [],
      shared: { ...shared, health: 'Good', backlog: 0, redis: { ...redis, untilMs: 60_000 }, refusals: [], hidden: 0 },
    };
    const after = await look('/submissions', { submissions: (route) => route.fulfill({ json: calm }) });
    await after.getByText('No submission was refused.').waitFor();
    expect(await after.getByRole('main').innerText()).toMatch(/Redis, from [^]* to [^]*Full/);
  });
});
