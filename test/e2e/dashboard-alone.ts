/** The page of the dashboard before a server that says what a test wants it to say. */
import path from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import type { JobAction, JobLine, JobPage, JobView, OverviewChange, Viewer, WithActions } from '../../manager/dashboard/views.ts';
import { serveDashboard } from '../../manager/http/serve-dashboard.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { openBrowser, openPage } from '../support/browser.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
export const line = (name: string, parts: Partial<JobLine> = {}): JobLine => ({
  key: `team/${name}`,
  uid: name,
  state: 'Waiting',
  queue: 'main',
  createdMs: 0,
  completions: 1,
  active: 0,
  succeeded: 0,
  failed: 0,
  ...parts,
});
const LINES = Array.from({ length: 5 }, (_, number) => line(`job-${number}`));
export const RUNNING = line('trainer', { state: 'Running', active: 1, cluster: 'east' });
export const VIEW: WithActions<JobView, JobAction> = {
  line: RUNNING,
  stages: [],
  facts: [],
  requests: {},
  conditions: [],
  pods: [],
  placements: [],
  avoided: [],
  commands: [],
  fromHistory: false,
  may: [],
};
export const event = (id: number, name: string, data: object): string => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

type Answers = Readonly<Record<string, (route: Route) => Promise<void> | void>>;
type Looks = { readonly items?: OverviewChange['items']; readonly lines?: readonly JobLine[]; readonly width?: number };
export type PageAlone = {
  /** With somebody who may do everything; `answers` by the end of the path. `items`: of the overview. */
  look(place: string, answers: Answers, looks?: Looks): Promise<Page>;
  close(): Promise<void>;
};

export async function createPageAlone(): Promise<PageAlone> {
  await buildPage(ROOT);
  const browser: Browser = await openBrowser();
  const server = await serveDashboard('127.0.0.1:0', {
    open: async () => ({ kind: 'Refused', status: 503, why: 'every answer is the test’s' }),
    pageFolder: path.join(ROOT, 'manager', 'dashboard', 'dist'),
    clock: systemClock,
    log: silentLogger,
  });
  return {
    async look(place, answers, { items = {}, lines = [], width = 1280 } = {}) {
      const { page, context } = await openPage(browser, server.url, { token: 'nobody', viewport: { width, height: 800 } });
      const viewer: Viewer = { name: 'operator', namespaces: 'All', queues: 'All', clusters: 'All', actions: true };
      const yard: OverviewChange = { items, jobs: [], lines, gone: [], more: 0, atMs: 0 };
      const jobs: JobPage = { total: LINES.length, offset: 0, jobs: LINES };
      let streams = 0;
      const all: Answers = {
        viewer: (route) => route.fulfill({ json: viewer }),
        // It says no more, and stays.
        stream: (route) =>
          streams++ === 0 ? route.fulfill({ contentType: 'text/event-stream', body: event(1, 'yard', yard) }) : undefined,
        jobs: (route) => route.fulfill({ json: jobs }),
        trainer: (route) => route.fulfill({ json: VIEW }),
        ...answers,
      };
      await context.route('**/api/v1/**', async (route) => {
        const { pathname } = new URL(route.request().url());
        await (
          all[pathname.slice(pathname.lastIndexOf('/') + 1)] ??
          ((each: Route) => each.fulfill({ status: 404, json: { message: 'not here' } }))
        )(route);
      });
      await page.goto(`${server.url}/?again#${place}${place.includes('?') ? '&' : '?'}token=operator`);
      return page;
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
