/**
 * What a program costs before it has any work: the time from the start of its process until /readyz says 200, the processor time until
 * then, and the memory it keeps while idle. Programs of another checkout can be measured in turn with ours, so that both meet the same
 * machine.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installKinds } from '../../manager/cli/local/set-up.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { FlagError, listOf, text, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startRedis } from '../support/redis.ts';
import { startBenchCluster } from './cluster.ts';
import { cpuSecondsOf, residentBytesOf } from './process-figures.ts';
import { defineSuite } from './suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** As the image starts them. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const PROGRAMS = { worker: 'worker/main.ts', manager: 'manager/main.ts', 'manager+redis': 'manager/main.ts' } as const;
type ProgramName = keyof typeof PROGRAMS;
const PROGRAM_NAMES: readonly ProgramName[] = ['worker', 'manager', 'manager+redis'];

const FLAGS = {
  programs: { value: 'LIST', fallback: PROGRAM_NAMES.join(','), about: `some of ${PROGRAM_NAMES.join(', ')}`, parse: programs },
  runs: { value: 'N', fallback: '5', about: 'starts of each', parse: wholeNumber(1) },
  'idle-seconds': { value: 'N', fallback: '5', about: 'how long a program is left alone before its memory is read', parse: wholeNumber(1) },
  against: { value: 'DIR', about: 'another checkout with its modules installed, measured in turn with this one', parse: checkout },
} satisfies FlagTable;
/** What an idle worker may cost. Its fastest start counts, because other programs only ever slow it down, and the median of its memory. */
const WORKER_READY_MS_MAX = 500;
const WORKER_RESIDENT_MIB_MAX = 110;

/** Milliseconds and MiB. */
type Start = { readonly readyMs: number; readonly cpuMs: number; readonly residentMiB: number };

export const startUpSuite = defineSuite(FLAGS, ({ programs: names, runs, 'idle-seconds': idleSeconds, against }) => {
  const checkouts = against === undefined ? [ROOT] : [against, ROOT];
  return () => measureAll(names, runs, idleSeconds * 1000, checkouts);
});

function programs(given: string): readonly ProgramName[] {
  const chosen = listOf(PROGRAM_NAMES)(given);
  if (chosen.length === 0) throw new FlagError(`names no program; choose from ${PROGRAM_NAMES.join(', ')}`);
  return chosen;
}

function checkout(given: string): string {
  const directory = path.resolve(text(given));
  if (existsSync(path.join(directory, 'worker/main.ts'))) return directory;
  throw new FlagError(`${JSON.stringify(given)} is no checkout of this project; write the directory of one`);
}

async function measureAll(names: readonly ProgramName[], runs: number, idleMs: number, checkouts: readonly string[]): Promise<boolean> {
  await using resources = new AsyncDisposableStack();
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  await installKinds(client, ROOT);
  await client.close();
  const redis = names.includes('manager+redis') ? await startRedis() : undefined;
  resources.defer(async () => redis?.stop());
  const caches = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  resources.defer(async () => rmSync(caches, { recursive: true, force: true }));

  console.log(
    `${'program'.padEnd(16)}${'checkout'.padEnd(12)}${'ready ms'.padStart(22)}${'CPU ms'.padStart(22)}${'resident MiB'.padStart(22)}`,
  );
  let good = true;
  for (const name of names) {
    const flags = [`--kubeconfig=${cluster.kubeconfigFile}`, ...(name === 'manager+redis' && redis ? [`--redis-url=${redis.url}`] : [])];
    const start = (checkout: string, idle: number): Promise<Start> => {
      const command = [process.execPath, ...NODE_FLAGS, path.join(checkout, PROGRAMS[name]), ...flags] as const;
      return measureStart(name, command, path.join(caches, String(checkouts.indexOf(checkout))), idle);
    };
    const starts = new Map<string, Start[]>(checkouts.map((checkout) => [checkout, []]));
    // The first start of each fills its compile cache, as the image does when it is built.
    for (const checkout of checkouts) await start(checkout, 0);
    for (let run = 0; run < runs; run++) {
      for (const checkout of checkouts) starts.get(checkout)?.push(await start(checkout, idleMs));
    }
    for (const [checkout, measured] of starts) console.log(lineOf(name, checkout, measured));
    good = (name !== 'worker' || withinRange(starts.get(ROOT) ?? [])) && good;
  }
  return good;
}

async function measureStart(name: string, command: readonly [string, ...string[]], compileCache: string, idleMs: number): Promise<Start> {
  const startedMs = performance.now();
  await using program = new ChildProgram(name, command, { NODE_COMPILE_CACHE: compileCache });
  const url = await program.find((line) => /"(?:http|url)":"(http:[^"]+)"/.exec(line)?.[1]);
  while (!(await isReady(url))) {
    if (program.hasEnded()) await program.failsWhenEnded();
    await sleep(systemClock, 2);
  }
  const readyMs = performance.now() - startedMs;
  const cpuMs = cpuSecondsOf(program.pid) * 1000;
  await sleep(systemClock, idleMs);
  return { readyMs, cpuMs, residentMiB: residentBytesOf(program.pid) / 2 ** 20 };
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.text();
  return response.ok;
}

function withinRange(starts: readonly Start[]): boolean {
  const readyMs = Math.min(...starts.map((start) => start.readyMs));
  const residentMiB = medianOf(starts, 'residentMiB');
  if (readyMs < WORKER_READY_MS_MAX && residentMiB < WORKER_RESIDENT_MIB_MAX) return true;
  console.log(
    `    OUT OF RANGE: a worker is to be ready in ${WORKER_READY_MS_MAX} ms and to keep less than ${WORKER_RESIDENT_MIB_MAX} MiB`,
  );
  return false;
}

function lineOf(name: string, checkout: string, starts: readonly Start[]): string {
  const figures = (['readyMs', 'cpuMs', 'residentMiB'] as const).map((figure) => rangeOf(starts, figure).padStart(22));
  return `${name.padEnd(16)}${(checkout === ROOT ? 'this' : path.basename(checkout)).padEnd(12)}${figures.join('')}`;
}

/** Median, and in brackets the least and the most. */
function rangeOf(starts: readonly Start[], figure: keyof Start): string {
  const values = starts.map((start) => start[figure]);
  return `${medianOf(starts, figure).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
}

function medianOf(starts: readonly Start[], figure: keyof Start): number {
  const values = starts.map((start) => start[figure]).toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}
