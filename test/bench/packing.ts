/**
 * How full clusters stay, and how long Jobs wait, where some ask for most of a cluster: the manager's own admission in virtual time. Beside
 * it, on the same Jobs, EASY and conservative backfilling, plain first fit, and a bound that nothing can pass.
 */
import { readFileSync } from 'node:fs';
import type { ClusterQueueSpec } from '../../manager/api/cluster-queue.ts';
import { FlagError, listOf, text, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { CLUSTER_CPU, generateJobs, NODE_CPU, type PackingJob } from './packing/jobs.ts';
import { createConservativeBackfilling } from './packing/conservative-backfilling.ts';
import { createEasyBackfilling } from './packing/easy-backfilling.ts';
import { createFirstFit } from './packing/first-fit.ts';
import { createOwnAdmission } from './packing/own-admission.ts';
import { lowerBound, packingFigures, type PackingFigures } from './packing/packing-figures.ts';
import { play, type Machine, type PackingScheduler } from './packing/play.ts';
import { ESTIMATES, runTimeEstimates, type EstimateKind } from './packing/run-time-estimates.ts';
import { parseSwf, SwfError, type SwfLog } from './packing/swf.ts';
import { defineSuite } from './suite.ts';

/** What queues are set to. Where a strategy reads run times, it is played with each kind of estimate. */
type Strategy = { readonly name: string; readonly spec: Partial<ClusterQueueSpec>; readonly readsRunTimes: boolean };
const STRATEGIES: readonly Strategy[] = [
  { name: 'BestEffortFIFO, MostRoom', spec: { queueingStrategy: 'BestEffortFIFO', placement: 'MostRoom' }, readsRunTimes: false },
  { name: 'BestEffortFIFO', spec: { queueingStrategy: 'BestEffortFIFO' }, readsRunTimes: false },
  { name: 'Backfill', spec: { queueingStrategy: 'Backfill' }, readsRunTimes: true },
];

/** What the last strategy has to reach with exact estimates; waits in minutes. */
type Goal = {
  readonly clusters: number;
  readonly queues: number;
  readonly about: string;
  isMet(own: PackingFigures, easy: PackingFigures): boolean;
};
const GOALS: readonly Goal[] = [
  { clusters: 3, queues: 8, about: 'used at least 0.82', isMet: ({ used }) => used >= 0.82 },
  { clusters: 3, queues: 8, about: 'small Jobs wait 5 min at most', isMet: ({ small }) => small <= 5 },
  {
    clusters: 3,
    queues: 8,
    about: 'large Jobs wait at most 1.1 times as long as by EASY',
    isMet: ({ large }, easy) => large <= 1.1 * easy.large,
  },
  { clusters: 10, queues: 8, about: 'the mean wait is 3 min at most', isMet: ({ all }) => all <= 3 },
];

const FLAGS = {
  queues: { value: 'LIST', fallback: '1,2,4,8', about: 'numbers of ClusterQueues', parse: numbers },
  clusters: {
    value: 'LIST',
    fallback: '3,10',
    about: `numbers of clusters of ${CLUSTER_CPU} cpus in nodes of ${NODE_CPU}`,
    parse: numbers,
  },
  estimates: {
    value: 'LIST',
    fallback: ESTIMATES.join(','),
    about: `where run times are known from: ${ESTIMATES.join(', ')} (limit: up to five times too long)`,
    parse: listOf(ESTIMATES),
  },
  jobs: { value: 'N', fallback: '3000', about: 'Jobs of each load', parse: wholeNumber(100) },
  seeds: { value: 'N', fallback: '3', about: 'loads of each kind; figures are their mean', parse: wholeNumber(1, 100) },
  swf: {
    value: 'FILE',
    about: 'replay a log in the Standard Workload Format instead, its machine divided among the clusters; there are no goals then',
    parse: text,
  },
} satisfies FlagTable;

export const packingSuite = defineSuite(FLAGS, ({ queues, clusters, estimates, jobs, seeds, swf }) => {
  const log = swf === undefined ? undefined : readLog(swf);
  return () => {
    let met = true;
    for (const count of clusters) {
      const logged = log === undefined ? undefined : [loadOfLog(log, count)];
      const loadsOf = (queueCount: number): readonly Load[] =>
        logged ??
        Array.from({ length: seeds }, (_, index) => ({
          jobs: generateJobs({ seed: index + 1, jobs, queues: queueCount, clusters: count }),
          machine: { clusters: count, clusterCpu: CLUSTER_CPU },
        }));
      if (!measure({ clusters: count, queues, estimates, loadsOf, hasGoals: log === undefined })) met = false;
    }
    return Promise.resolve(met);
  };
});

type Load = { readonly jobs: readonly PackingJob[]; readonly machine: Machine };
type Measured = {
  readonly clusters: number;
  readonly queues: readonly number[];
  readonly estimates: readonly EstimateKind[];
  readonly loadsOf: (queues: number) => readonly Load[];
  readonly hasGoals: boolean;
};

/** Prints a table. False when a goal is missed. */
function measure({ clusters, queues, estimates, loadsOf, hasGoals }: Measured): boolean {
  const figuresWith = (loads: readonly Load[], schedulerFor: (machine: Machine) => PackingScheduler): PackingFigures =>
    meanOf(loads.map(({ jobs, machine }) => packingFigures(play(jobs, machine, schedulerFor(machine)), machine)));
  print([`${clusters} clusters`, 'queues', 'estimates', 'used', 'small, min', 'large', 'all', 'p95', 'by work']);
  print(['---', '---', '---', '---', '---', '---', '---', '---', '---']);
  // Schedulers of one queue do not see which queue a Job is of.
  const loads = loadsOf(1);
  const bounds = loads.map(({ jobs, machine }) => lowerBound(jobs, machine));
  const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
  print(['bound', '', '', share(mean(bounds.map(({ used }) => used))), '', '', '', '', minutes(mean(bounds.map(({ byWork }) => byWork)))]);
  print(['first fit', '1', '', ...cellsOf(figuresWith(loads, createFirstFit))]);
  let easy: PackingFigures | undefined;
  for (const estimate of estimates) {
    const figures = figuresWith(loads, (machine) => createEasyBackfilling(machine, runTimeEstimates(estimate)));
    if (estimate === 'exact') easy = figures;
    print(['EASY', '1', estimate, ...cellsOf(figures)]);
  }
  for (const estimate of estimates) {
    const schedulerFor = (machine: Machine): PackingScheduler => createConservativeBackfilling(machine, runTimeEstimates(estimate));
    print(['conservative', '1', estimate, ...cellsOf(figuresWith(loads, schedulerFor))]);
  }
  const missed: string[] = [];
  for (const { name, spec, readsRunTimes } of STRATEGIES) {
    for (const queueCount of queues) {
      for (const estimate of readsRunTimes ? estimates : (['exact'] as const)) {
        const figures = figuresWith(loadsOf(queueCount), (machine) => createOwnAdmission(machine, { queues: queueCount, spec, estimate }));
        print([name, `${queueCount}`, readsRunTimes ? estimate : '', ...cellsOf(figures)]);
        if (!hasGoals || easy === undefined || estimate !== 'exact' || name !== STRATEGIES.at(-1)?.name) continue;
        for (const goal of GOALS)
          if (goal.clusters === clusters && goal.queues === queueCount && !goal.isMet(figures, easy)) missed.push(goal.about);
      }
    }
  }
  for (const about of missed) console.log(`missed: ${about}`);
  console.log('');
  return missed.length === 0;
}

const print = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);
const share = (value: number): string => value.toFixed(3);
const minutes = (value: number): string => value.toFixed(1);
const cellsOf = ({ used, small, large, all, p95, byWork }: PackingFigures): readonly string[] => [
  share(used),
  ...[small, large, all, p95, byWork].map(minutes),
];

function meanOf(all: readonly PackingFigures[]): PackingFigures {
  const mean = (of: (figures: PackingFigures) => number): number => all.reduce((sum, each) => sum + of(each), 0) / all.length;
  return {
    used: mean(({ used }) => used),
    small: mean(({ small }) => small),
    large: mean(({ large }) => large),
    all: mean((each) => each.all),
    p95: mean(({ p95 }) => p95),
    byWork: mean(({ byWork }) => byWork),
  };
}

function numbers(given: string): readonly number[] {
  return given.split(',').map((each) => wholeNumber(1, 1000)(each.trim()));
}

function readLog(file: string): SwfLog {
  try {
    const log = parseSwf(readFileSync(file, 'utf8'));
    if (log.jobs.length === 0) throw new FlagError(`${file} has no Job that ran`);
    return log;
  } catch (error) {
    if (error instanceof SwfError) throw new FlagError(`${file}: ${error.message}`, { cause: error });
    if (error instanceof Error && 'code' in error) throw new FlagError(`${file} cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The machine of the log in equal parts of whole nodes. Jobs that are larger than a part are left out. */
function loadOfLog({ jobs, processors, leftOut }: SwfLog, clusters: number): Load {
  const all = processors ?? jobs.reduce((most, { cpu }) => Math.max(most, cpu), 0);
  const clusterCpu = Math.ceil(all / clusters / NODE_CPU) * NODE_CPU;
  const fitting = jobs.filter(({ cpu }) => cpu <= clusterCpu);
  console.log(
    `${fitting.length} Jobs on ${clusters} clusters of ${clusterCpu} cpus; left out: ${jobs.length - fitting.length} larger than a cluster, ${leftOut} that did not run`,
  );
  return { jobs: fitting, machine: { clusters, clusterCpu } };
}
