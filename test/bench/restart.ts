/**
 * A manager that begins to lead beside many Jobs: after a start with nothing in its caches, after the leader before it was killed, and
 * after that one has stopped as a rolling update stops it. Each time there is quota for one more Job: that is the one decision there is to
 * make, so that every other write is one that was not needed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { listOf, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { ChildProgram } from '../support/child-program.ts';
import { createCrowdedWorld, RECORD_KEY } from './restart/crowded-world.ts';
import type { DurablePlane } from './restart/durable-plane.ts';
import { measurePhase, readyOf, watchDecisions, type Phase } from './restart/restart-phase.ts';
import { quantile } from './quantile.ts';
import { defineSuite } from './suite.ts';

const MANAGER = path.resolve(import.meta.dirname, '..', '..', 'manager', 'main.ts');
/** As in the image. */
const NODE_FLAGS = ['--max-semi-space-size=8'];

const BEGINNINGS = ['started', 'killed', 'stopped'] as const;
type Beginning = (typeof BEGINNINGS)[number];
/** From the end of a leader that was killed to the first decision of the next, of 99 in 100. */
const FAILOVER_MS_MAX = 5_000;
/** Between two kills, so that they strike anywhere between two renewals. */
const RENEWAL_MS = 500;
const DECIDED_MS_MAX = 10_000;
const PEAK_MIB_MAX = 640;
/** The Lease that is renewed, and the status of queues. */
const NEEDED_TO_SETTLE: ReadonlyMap<string, number> = new Map([
  ['UPDATE leases', Number.POSITIVE_INFINITY],
  ['PATCH clusterqueues/status', 2],
  ['PATCH localqueues/status', 2],
]);
/** And of the one Job that is admitted: its admission, its copy, its status home, and three Events. */
const NEEDED: ReadonlyMap<string, number> = new Map([
  ...NEEDED_TO_SETTLE,
  ['PATCH jobs', 1],
  ['CREATE jobs', 1],
  ['PATCH jobs/status', 2],
  ['CREATE events', 3],
]);

const FLAGS = {
  waiting: { value: 'N', fallback: '1000', about: 'Jobs that wait', parse: wholeNumber(1) },
  running: { value: 'N', fallback: '100', about: 'Jobs that run, over three clusters', parse: wholeNumber(1) },
  phases: { value: 'LIST', fallback: BEGINNINGS.join(','), about: `some of ${BEGINNINGS.join(', ')}`, parse: listOf(BEGINNINGS) },
  kills: {
    value: 'N',
    fallback: '1',
    about: 'how often a leader is killed; from the second time on only the time until the next decides is measured',
    parse: wholeNumber(1),
  },
  profile: { about: 'have the manager that starts write a processor profile where this is run' },
  log: { about: 'print what the managers log' },
} satisfies FlagTable;

export const restartSuite = defineSuite(FLAGS, ({ waiting, running, phases, kills, profile, log }) => async () => {
  await using resources = new AsyncDisposableStack();
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  resources.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const began = performance.now();
  const since = (): string => ((performance.now() - began) / 1_000).toFixed(2);
  let count = 0;
  const startManager = ({ kubeconfigFile }: DurablePlane, nodeFlags: readonly string[] = []): ChildProgram => {
    const flags = [`--kubeconfig=${kubeconfigFile}`, '--kube-api-qps=0', '--worker-api-qps=0', '--leader-elect'];
    const election = ['--leader-elect-resource-namespace=default', `--record-key-secret=${RECORD_KEY.namespace}/${RECORD_KEY.name}`];
    const name = `manager ${++count}`;
    const manager = new ChildProgram(name, [process.execPath, ...NODE_FLAGS, ...nodeFlags, MANAGER, ...flags, ...election]);
    if (log) manager.onLine((line) => console.log(`${since()} ${name} ${line}`));
    return resources.use(manager);
  };
  const world = resources.use(await createCrowdedWorld(directory, { waiting, running }, startManager));
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  console.log(`${waiting} waiting and ${running} running Jobs over ${world.workers.length} worker clusters, made in ${since()} s`);
  const judge = (title: string, beginning: Beginning | 'settling', phase: Phase): boolean => {
    print(title, phase);
    const problems = problemsOf(phase, DECIDED_MS_MAX, beginning === 'settling');
    for (const problem of problems) console.log(`  OUT OF RANGE: ${problem}`);
    return problems.length === 0;
  };
  const results: boolean[] = [];

  let quota = running;
  let leader = startManager(world.home);
  results.push(
    judge('what was made is looked at by a first manager', 'settling', await measurePhase(world, undefined, async () => leader)),
  );
  const decisions = await watchDecisions(world, ending.signal);
  const one = async (beginning: Beginning, title: string, begin: (old: ChildProgram) => Promise<ChildProgram>): Promise<void> => {
    const old = leader;
    const phase = await measurePhase(world, decisions, async () => {
      leader = await begin(old);
      return leader;
    });
    results.push(judge(title, beginning, phase));
  };
  const oneMore = (): Promise<void> => world.setQuota(++quota);
  const standby = async (): Promise<ChildProgram> => {
    const next = startManager(world.home);
    await readyOf(next);
    return next;
  };
  const judgeFailovers = async (times: number): Promise<boolean> => {
    const failovers: Failover[] = [];
    for (let index = 0; index < times; index++) {
      const next = await standby();
      await sleep(systemClock, RENEWAL_MS * Math.random());
      const decided = decisions.next();
      const leads = next.find((line) => (line.includes('"leadership acquired"') ? performance.now() : undefined));
      const killedAtMs = performance.now();
      leader.kill();
      leader = next;
      await oneMore();
      failovers.push({ leadsMs: (await leads) - killedAtMs, decidedMs: (await decided) - killedAtMs });
      if (log) console.log(`${since()} failover ${index + 1}: ${JSON.stringify(failovers.at(-1))}`);
    }
    return printFailovers(failovers);
  };
  if (phases.includes('started')) {
    await leader.stop();
    await oneMore();
    await one('started', 'started, with nothing in its caches and nobody before it', async () =>
      startManager(world.home, profile ? ['--cpu-prof'] : []),
    );
  }
  if (phases.includes('killed')) {
    const next = await standby();
    await one('killed', 'a standby, when the leader was killed', async (old) => {
      old.kill();
      await oneMore();
      return next;
    });
    if (kills > 1) results.push(await judgeFailovers(kills - 1));
  }
  if (phases.includes('stopped')) {
    const next = await standby();
    await one('stopped', 'a standby, when the leader was told to stop', async (old) => {
      await old.stop();
      await oneMore();
      return next;
    });
  }
  const isGood = results.every(Boolean);
  console.log(
    isGood
      ? 'The goals hold.'
      : `The goals do not hold (load ${loadavg()[0]?.toFixed(1)}: times are those of a machine that others leave alone).`,
  );
  return isGood;
});

type Failover = { readonly leadsMs: number; readonly decidedMs: number };

function printFailovers(failovers: readonly Failover[]): boolean {
  const row = (name: string, times: readonly number[]): number => {
    const ascending = times.toSorted((a, b) => a - b);
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => `${(quantile(ascending, share) / 1_000).toFixed(2)} s`);
    console.log(`  ${name} p50 ${p50}, p99 ${p99}, max ${max}`);
    return quantile(ascending, 0.99);
  };
  console.log(`${failovers.length} more leaders that were killed, beside a standby (load ${loadavg()[0]?.toFixed(1)})`);
  row(
    'the next leads  ',
    failovers.map(({ leadsMs }) => leadsMs),
  );
  const p99Ms = row(
    'first decision  ',
    failovers.map(({ decidedMs }) => decidedMs),
  );
  if (p99Ms > FAILOVER_MS_MAX)
    console.log(`  OUT OF RANGE: one in a hundred took longer than ${FAILOVER_MS_MAX / 1_000} s to its first decision`);
  return p99Ms <= FAILOVER_MS_MAX;
}

function print(title: string, phase: Phase): void {
  const { decidedMs, steadyMs, cpuSeconds, cpuSteadySeconds, residentMiB, peakMiB, longestTurnMs, writes, jobLists } = phase;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  console.log(`${title} (load ${loadavg()[0]?.toFixed(1)})`);
  if (decidedMs > 0) console.log(`  first decision   ${seconds(decidedMs)}`);
  console.log(`  steady           ${seconds(steadyMs)}`);
  const untilDecided = decidedMs > 0 ? `${cpuSeconds.toFixed(1)} s until the first decision, ` : '';
  console.log(
    `  processor time   ${untilDecided}${cpuSteadySeconds.toFixed(1)} s in all since its start, longest turn ${longestTurnMs.toFixed(0)} ms`,
  );
  console.log(`  memory           ${residentMiB.toFixed(0)} MiB, at most ${peakMiB.toFixed(0)} MiB`);
  console.log(`  pages of Jobs    ${jobLists}`);
  console.log(`  writes           ${[...writes].map(([call, times]) => `${call} ${times}`).join(', ')}`);
}

/** What is not as it should be; for the first manager only what it writes. */
function problemsOf({ decidedMs, peakMiB, writes }: Phase, decidedMsMax: number, isSettling: boolean): string[] {
  const needed = isSettling ? NEEDED_TO_SETTLE : NEEDED;
  const notNeeded = [...writes].flatMap(([call, count]) => {
    const most = needed.get(call.slice(call.indexOf(' ') + 1)) ?? 0;
    return count > most ? [`${call} ${count}, of which ${most} are needed`] : [];
  });
  return [
    ...(decidedMs > decidedMsMax ? [`the first decision took longer than ${decidedMsMax / 1_000} s`] : []),
    ...(peakMiB > PEAK_MIB_MAX ? [`more than ${PEAK_MIB_MAX} MiB`] : []),
    ...notNeeded,
  ];
}
