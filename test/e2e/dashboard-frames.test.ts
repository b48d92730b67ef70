/** The table of Jobs with 100,000 of them, scrolled and filtered in a browser: how long frames take, and how much comes over the line. */
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import { createDashboard, type DashboardDeps } from '../../manager/dashboard/dashboard.ts';
import { serveDashboard } from '../../manager/http/serve-dashboard.ts';
import type { DeepReadonly, Job, KubeObject } from '../../shared/api/kubernetes.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { aHomeJob } from '../support/jobs.ts';
import { isSlow } from '../support/slow.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const JOBS = 100_000;
const ROOT = path.join(import.meta.dirname, '..', '..');

/** A cache that is full from the start, and stays so. */
function fullCache<T extends KubeObject>(objects: readonly DeepReadonly<T>[]): Informer<T> {
  const cache: Pick<Informer<T>, 'addHandler' | 'list' | 'get'> = {
    addHandler(handler) {
      for (const object of objects) handler.added?.(object, true);
    },
    list: () => [...objects],
    get: () => undefined,
  };
  return cache as Informer<T>;
}

const everybodyIsAdmin = {
  raw: async ({ path: asked }: { readonly path: string }) =>
    JSON.stringify({ status: asked.endsWith('/tokenreviews') ? { authenticated: true, user: { username: 'admin' } } : { allowed: true } }),
} as RawClient;

/** Milliseconds between frames while the table is scrolled by so many pixels in each. */
const scrolled = (page: Page, frames: number, step: number): Promise<readonly number[]> =>
  page.evaluate(`new Promise((resolve) => {
    const body = document.querySelector('.table .body');
    const times = [];
    let before = performance.now();
    const next = (now) => {
      times.push(now - before);
      before = now;
      if (times.length > ${frames}) return resolve(times.slice(1));
      body.scrollTop += ${step};
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`);
/** Tells of a page so far, in milliseconds: what its main thread has worked, and of that for scripts, styles and layout. */
async function watchWork(page: Page): Promise<() => Promise<readonly number[]>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return ['TaskDuration', 'ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'].map(
      (wanted) => (metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN) * 1_000,
    );
  };
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))] ?? Number.NaN;

test.skipIf(CHROMIUM === undefined || !isSlow)(
  'a table of 100,000 Jobs is scrolled and filtered without a hitch',
  { timeout: 300_000 },
  async () => {
    expect(await buildPage(ROOT)).toBeUndefined();
    const jobs = Array.from({ length: JOBS }, (_, number): Job => {
      const name = `job-${String(number).padStart(6, '0')}`;
      const creationTimestamp = new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString();
      return aHomeJob({ metadata: { name, namespace: `team-${number % 40}`, uid: `uid-${number}`, creationTimestamp } });
    });
    const informers: DashboardDeps['informers'] = {
      jobs: fullCache(jobs),
      workerClusters: fullCache([]),
      clusterQueues: fullCache([]),
      localQueues: fullCache([]),
      cohorts: fullCache([]),
      submissionQueues: fullCache([]),
    };
    const dashboard = createDashboard({
      kind: JOB_KIND,
      informers,
      identities: { of: () => undefined, onGone: () => () => undefined, gone: 0 },
      reviewer: everybodyIsAdmin,
      proxy: undefined,
      explain: async () => ({ kind: 'Finished' }),
      order: async () => ({ kind: 'NoOrder', problem: 'nothing waits' }),
      whatIf: async () => ({ kind: 'NoWhatIf', problem: 'nothing waits' }),
      readJob: async () => undefined,
      readEvents: async () => [],
      kept: undefined,
      newId: () => 'epoch',
      clock: systemClock,
      log: silentLogger,
    });
    const server = await serveDashboard('127.0.0.1:0', {
      open: dashboard.open,
      pageFolder: path.join(ROOT, 'manager', 'dashboard', 'dist'),
      clock: systemClock,
      log: silentLogger,
    });
    const browser = await openBrowser();
    try {
      const { page } = await openPage(browser, server.url, { token: 'admin', viewport: { width: 1280, height: 800 } });
      const fromMs = performance.now();
      await page.goto(`${server.url}/#/jobs`);
      await page.getByRole('cell', { name: 'job-099999' }).waitFor();
      const firstMs = performance.now() - fromMs;
      const work = await watchWork(page);
      const before = await work();
      const slow = await scrolled(page, 300, 40);
      const between = await work();
      const fast = await scrolled(page, 200, 4_000);
      const after = await work();
      const perFrame = (until: readonly number[], from: readonly number[], frames: number): string =>
        until.map((ms, index) => ((ms - (from[index] ?? 0)) / frames).toFixed(1)).join('/');
      await page.evaluate(`document.querySelector('.table .body').scrollTop = 50000 * 34`);
      const jumpedMs = performance.now();
      await page.getByRole('cell', { name: 'job-049990' }).waitFor();
      const jumpMs = performance.now() - jumpedMs;
      expect(await page.locator('.table .body .row').count()).toBeLessThan(60);
      const filteredMs = performance.now();
      await page.getByLabel('Part of the name').fill('12345');
      await page.getByRole('cell', { name: 'job-012345' }).waitFor();
      const filterMs = performance.now() - filteredMs;
      console.log(
        `${JOBS} Jobs at a load of ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores: first rows ${firstMs.toFixed(0)} ms; frames in ms (median/p95/longest): ` +
          [slow, fast].map((times) => [0.5, 0.95, 1].map((share) => quantile(times, share).toFixed(0)).join('/')).join(' by rows, ') +
          ` by pages; work a frame (all/script/style/layout): ${perFrame(between, before, slow.length)} by rows, ${perFrame(after, between, fast.length)} by pages; jump to the middle ${jumpMs.toFixed(0)} ms; filtered ${filterMs.toFixed(0)} ms`,
      );
      // A machine with all its cores taken makes a frame wait for its turn: half of them are in time all the same.
      expect(quantile(slow, 0.5)).toBeLessThan(34);
      expect(quantile(fast, 0.5)).toBeLessThan(50);
      expect(jumpMs).toBeLessThan(3_000);
      expect(filterMs).toBeLessThan(3_000);
    } finally {
      await browser.close();
      await server.close();
    }
  },
);
