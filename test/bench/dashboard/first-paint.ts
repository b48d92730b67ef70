import { CHROMIUM, NO_CHROMIUM, openBrowser } from '../../support/browser.ts';

/**
 * From the beginning of the navigation, with nothing in the cache of the browser, the median of some: until anything is painted, and until
 * Jobs or queues are.
 */
export type FirstPaint = { readonly firstMs: number; readonly usefulMs: number } | { readonly skipped: string };

const RUNS = 5;
/** What somebody came for: queues and clusters on the first page, rows in the table. */
const USEFUL = { yard: 'article', jobs: '.table .body .row' } as const;

/** Runs before the page does: when it is drawn, in milliseconds since the navigation began. */
const watch = (selector: string): string => `
  const first = new Promise((resolve) =>
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true }));
  const useful = new Promise((resolve) =>
    new MutationObserver((_, observer) => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return;
      observer.disconnect();
      // The frame in which it is drawn has ended when the next one begins.
      requestAnimationFrame(() => requestAnimationFrame(resolve));
    }).observe(document, { subtree: true, childList: true }));
  globalThis.paints = Promise.all([first, useful]);`;

/** Opens a page of the dashboard some times as somebody new. */
export async function measureFirstPaint(url: string, token: string, page: keyof typeof USEFUL): Promise<FirstPaint> {
  if (CHROMIUM === undefined) return { skipped: NO_CHROMIUM };
  const browser = await openBrowser();
  try {
    const taken: { readonly firstMs: number; readonly usefulMs: number }[] = [];
    // The first one warms up the browser.
    for (let run = 0; run <= RUNS; run++) {
      const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
      await context.addInitScript(watch(USEFUL[page]));
      const tab = await context.newPage();
      await tab.goto(`${url}/#/${page}?token=${token}`);
      const [firstMs, usefulMs] = await tab.evaluate<[number, number]>('paints');
      if (run > 0) taken.push({ firstMs, usefulMs });
      await context.close();
    }
    const median = (of: (each: (typeof taken)[number]) => number): number =>
      taken.map(of).toSorted((a, b) => a - b)[RUNS >> 1] ?? Number.NaN;
    return { firstMs: median((each) => each.firstMs), usefulMs: median((each) => each.usefulMs) };
  } finally {
    await browser.close();
  }
}
