/**
 * What it costs a manager that people look at its dashboard: processor time and memory with open pages and without, what goes over the line
 * to pages in which much changes and nothing does, how soon a change is seen, and how soon the first page. API servers and the manager are
 * processes of their own; this one makes the changes and is the pages.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { FlagError, rate, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { startBusyYard, startManager, type BusyYard } from './dashboard/busy-yard.ts';
import { measureFirstPaint, type FirstPaint } from './dashboard/first-paint.ts';
import { memoryKeptAt } from './dashboard/inspected-memory.ts';
import { openPages } from './dashboard/open-pages.ts';
import { startCrowdedApi } from './memory/crowded-api.ts';
import { cpuSecondsOf, residentBytesOf } from './process-figures.ts';
import { defineSuite } from './suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const KIB = 1_024;
const MIB = KIB * KIB;

const FLAGS = {
  pages: { value: 'N,...', fallback: '20,200', about: 'open pages, of ten people in turn', parse: numbers },
  changes: { value: 'N', fallback: '50', about: 'changes of Jobs a second', parse: rate },
  seconds: { value: 'N', fallback: '12', about: 'how long each figure is taken', parse: wholeNumber(1) },
  running: { value: 'N', fallback: '180', about: 'Jobs that run and stay', parse: wholeNumber(0) },
  waiting: { value: 'N', fallback: '360', about: 'Jobs that wait for quota', parse: wholeNumber(0) },
  jobs: { value: 'N', fallback: '100000', about: 'Jobs beside which the first page is opened, too; 0: not', parse: wholeNumber(0) },
  plain: { about: 'serve the dashboard without TLS' },
  profile: { about: 'have the manager write a processor profile where this is run' },
  log: { about: 'print what the manager logs' },
} satisfies FlagTable;

/** Of one core, that the most pages may cost: issue 13. */
const CORE_SHARE_MAX = 0.05;
const IDLE_BYTES_PER_MINUTE_MAX = 2 * KIB;
const BUSY_BYTES_PER_MINUTE_MAX = 2 * MIB;
const PAGE_BYTES_MAX = 192 * KIB;
const LATENCY_P99_MS_MAX = 1_500;
const USEFUL_MS_MAX = 1_000;
/** What is open, or was closed, is at rest. */
const SETTLE_MS = 3_000;

function numbers(given: string): readonly number[] {
  const all = given.split(',').map(Number);
  if (all.every((each) => Number.isInteger(each) && each > 0)) return all.toSorted((a, b) => a - b);
  throw new FlagError(`${JSON.stringify(given)} are no numbers of pages; write some such as 20,200`);
}

export const dashboardSuite = defineSuite(FLAGS, (flags) => async () => {
  const problem = await buildPage(ROOT);
  if (problem !== undefined) throw new Error(`the page could not be built: ${problem}`);
  const goals = createGoals();
  const began = performance.now();
  {
    await using resources = new AsyncDisposableStack();
    const nodeFlags = flags.profile ? ['--cpu-prof'] : [];
    const yard = await startBusyYard(resources, { tls: !flags.plain, nodeFlags, log: flags.log });
    const operator = yard.viewers[0]?.token ?? '';
    paint('no Job', goals, await measureFirstPaint(yard.dashboardUrl, operator, 'yard'));
    await yard.fill(flags);
    console.log(`${flags.running} Jobs run, ${flags.waiting} wait, ${yard.viewers.length} people look (${since(began)})`);
    await measureQuiet(yard, flags.pages.at(-1) ?? 1, 2 * flags.seconds, goals);
    await measureBusy(yard, flags, goals);
  }
  if (flags.jobs > 0) await measureCrowded(flags.jobs, goals);
  console.log(`Measured in ${since(began)} at a load of ${loadavg()[0]?.toFixed(1)}.`);
  console.log(goals.missed() === 0 ? 'The goals hold.' : 'The goals do not hold (times are those of a machine that others leave alone).');
  return goals.missed() === 0;
});

const since = (beganMs: number): string => `${((performance.now() - beganMs) / 1_000).toFixed(0)} s`;

/** Says of each figure whether it is as wanted. */
type Goals = { judge(figure: string, holds: boolean, wanted: string): void; missed(): number };

function createGoals(): Goals {
  let missed = 0;
  return {
    judge(figure, holds, wanted) {
      if (!holds) missed++;
      console.log(`  ${figure}  [${holds ? 'holds' : 'OUT OF RANGE'}: ${wanted}]`);
    },
    missed: () => missed,
  };
}

/** Nothing changes: what all pages keep in memory, and what they are sent. */
async function measureQuiet(yard: BusyYard, pages: number, seconds: number, goals: Goals): Promise<void> {
  await sleep(systemClock, SETTLE_MS);
  const before = await memoryKeptAt(yard.inspectorUrl);
  const open = await openPages(yard.dashboardUrl, yard.viewers, pages, () => undefined);
  await sleep(systemClock, SETTLE_MS);
  const [bytes, cpu, changes] = [open.bytes(), cpuSecondsOf(yard.manager.pid), yard.changes()];
  await sleep(systemClock, seconds * 1_000);
  const share = (cpuSecondsOf(yard.manager.pid) - cpu) / seconds;
  const sent = open.bytes();
  const after = await memoryKeptAt(yard.inspectorUrl);
  open.close();
  const perMinute = (of: 'operator' | 'tenant'): number => ((sent[of] - bytes[of]) * 60) / seconds;
  const kept = (of: 'resident' | 'heap'): number => (after[of] - before[of]) / pages;
  console.log(
    `${pages} pages while nothing happens (${yard.changes() - changes} changes in ${seconds} s, load ${loadavg()[0]?.toFixed(1)})`,
  );
  console.log(`  processor         ${percent(share)} of a core, all that the manager does`);
  const idle = Math.max(perMinute('operator'), perMinute('tenant'));
  goals.judge(
    `over the line      ${perMinute('operator').toFixed(0)} bytes a minute to an operator, ${perMinute('tenant').toFixed(0)} to a tenant`,
    idle <= IDLE_BYTES_PER_MINUTE_MAX,
    `at most ${IDLE_BYTES_PER_MINUTE_MAX}`,
  );
  goals.judge(
    `memory             ${(kept('resident') / KIB).toFixed(0)} KiB a page, ${(kept('heap') / KIB).toFixed(0)} KiB of it JavaScript's, once garbage is collected`,
    kept('heap') <= PAGE_BYTES_MAX && kept('resident') <= 2 * PAGE_BYTES_MAX,
    `at most ${(2 * PAGE_BYTES_MAX) / KIB} and ${PAGE_BYTES_MAX / KIB} KiB`,
  );
}

type Load = { readonly pages: readonly number[]; readonly changes: number; readonly seconds: number };

/**
 * The same changes without pages, with few and with many, and then back again: what a program compiles on its way must not be taken for the
 * cost of pages, or for what they save.
 */
async function measureBusy(yard: BusyYard, { pages, changes: perSecond, seconds }: Load, goals: Goals): Promise<void> {
  const stop = yard.keepChanging(perSecond);
  await sleep(systemClock, 2 * SETTLE_MS);
  const counts = [0, ...pages];
  const loads: LoadFigures[] = [];
  for (const count of [...counts, ...counts.toReversed()]) {
    const figures = await measureLoad(yard, count, seconds);
    console.log(lineOf(figures));
    loads.push(figures);
  }
  stop();
  const of = (count: number): readonly LoadFigures[] => loads.filter((each) => each.pages === count);
  // Where the machine has not let all changes be made, what they cost is missing, too.
  const shareOf = (count: number): number => mean(of(count).map(({ share, changesPerSecond }) => (share * perSecond) / changesPerSecond));
  const count = counts.at(-1) ?? 0;
  const most = of(count)[0];
  if (most === undefined) throw new Error('nothing was measured');
  const cost = shareOf(count) - shareOf(0);
  goals.judge(`${count} pages cost    ${percent(cost)} of a core`, cost < CORE_SHARE_MAX, `less than ${percent(CORE_SHARE_MAX)}`);
  const { operator, tenant } = most.perMinute;
  goals.judge(
    `over the line      ${(operator / KIB).toFixed(0)} KiB a minute to an operator, ${(tenant / KIB).toFixed(0)} KiB to a tenant`,
    operator <= BUSY_BYTES_PER_MINUTE_MAX,
    `at most ${BUSY_BYTES_PER_MINUTE_MAX / KIB}`,
  );
  const latenciesMs = of(count)
    .flatMap((each) => each.latenciesMs)
    .toSorted((a, b) => a - b);
  const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
  goals.judge(
    `change to page     p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (${latenciesMs.length} times that a new Job was seen)`,
    p99 <= LATENCY_P99_MS_MAX,
    `p99 at most ${LATENCY_P99_MS_MAX}`,
  );
}

type LoadFigures = {
  readonly pages: number;
  /** Of a core. */
  readonly share: number;
  readonly residentMiB: number;
  readonly changesPerSecond: number;
  /** Bytes a page. */
  readonly perMinute: { readonly operator: number; readonly tenant: number };
  /** From when the API server tells of a new Job until a page does. */
  readonly latenciesMs: readonly number[];
  readonly load: number;
};

async function measureLoad(yard: BusyYard, pages: number, seconds: number): Promise<LoadFigures> {
  const latencies = new Map<string, number>();
  let isMeasured = false;
  const open = await openPages(yard.dashboardUrl, yard.viewers, pages, (key, viewer) => {
    const atMs = yard.firstSeenMs.get(key);
    const once = `${viewer.name} ${key}`;
    if (latencies.has(once)) return;
    // A page that was opened later hears of older ones, too.
    latencies.set(once, isMeasured && atMs !== undefined && atMs > measuredMs ? performance.now() - atMs : Number.NaN);
  });
  await sleep(systemClock, SETTLE_MS);
  const [bytes, cpu, changes] = [open.bytes(), cpuSecondsOf(yard.manager.pid), yard.changes()];
  const measuredMs = performance.now();
  isMeasured = true;
  await sleep(systemClock, seconds * 1_000);
  const tookSeconds = (performance.now() - measuredMs) / 1_000;
  const share = (cpuSecondsOf(yard.manager.pid) - cpu) / tookSeconds;
  const sent = open.bytes();
  open.close();
  const perMinute = (of: 'operator' | 'tenant'): number => ((sent[of] - bytes[of]) * 60) / tookSeconds;
  return {
    pages,
    share,
    residentMiB: residentBytesOf(yard.manager.pid) / MIB,
    changesPerSecond: (yard.changes() - changes) / tookSeconds,
    perMinute: { operator: perMinute('operator'), tenant: perMinute('tenant') },
    latenciesMs: [...latencies.values()].filter((ms) => !Number.isNaN(ms)),
    load: loadavg()[0] ?? Number.NaN,
  };
}

/** The first page of a manager that has very many Jobs. */
async function measureCrowded(jobs: number, goals: Goals): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const api = await startCrowdedApi({ jobs, jobBytes: 2 * KIB });
  resources.defer(() => api.close());
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  resources.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const kubeconfig = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor({ url: api.url }, 'a-token'));
  const { dashboardUrl } = await startManager(resources, ['--manager-id=bench', `--kubeconfig=${kubeconfig}`]);
  for (const page of ['yard', 'jobs'] as const)
    paint(`${jobs} Jobs, ${page}`, goals, await measureFirstPaint(dashboardUrl, 'a-token', page));
}

function paint(beside: string, goals: Goals, figures: FirstPaint): void {
  console.log(`The first page beside ${beside} (load ${loadavg()[0]?.toFixed(1)})`);
  if ('skipped' in figures) return console.log(`  skipped: ${figures.skipped}`);
  const { firstMs, usefulMs } = figures;
  goals.judge(
    `painted            first ${firstMs.toFixed(0)} ms, useful ${usefulMs.toFixed(0)} ms`,
    usefulMs <= USEFUL_MS_MAX,
    `useful in ${USEFUL_MS_MAX} ms`,
  );
}

const lineOf = ({ pages, share, residentMiB, changesPerSecond, load }: LoadFigures): string =>
  `${String(pages).padStart(4)} pages: ${percent(share)} of a core, ${residentMiB.toFixed(0)} MiB resident, ${changesPerSecond.toFixed(0)} changes a second (load ${load.toFixed(1)})`;
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.floor(share * (ascending.length - 1))] ?? Number.NaN;
