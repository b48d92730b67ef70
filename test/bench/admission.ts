/**
 * What admission decides, without the API server around it: very many waiting Jobs, all equal or all different, in some queues and on some clusters; then one Job
 * after the other ends, and, where some preempt others, one after the other arrives that does. After that how long whatever an administrator changes stops
 * everything else, and the shapes of Kueue's own performance test, played in virtual time: how much longer than the quota allows they take. Times are processor
 * time, so that other programs of the machine do not count.
 */
import { memoryUsage } from 'node:process';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FlagError, listOf, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { FAIR_SHARING, measureChanges, PREEMPTION, type Policy } from './admission-changes.ts';
import { cpuCluster, cpuQueue, createAdmissionCore } from './admission-core.ts';
import { measureDecisionLog } from './admission-log.ts';
import { cpuMs } from './cpu-time.ts';
import { KUEUE_SHAPES, playShape, type Shape } from './kueue-shapes.ts';
import { defineSuite } from './suite.ts';

const LIMITS = ['room', 'quota'] as const;
const REQUESTS = ['equal', 'different'] as const;
const POLICIES = ['none', 'preemption', 'fair'] as const satisfies readonly Policy[];
const PARTS = ['decisions', 'changes', 'log', 'kueue'] as const;

const FLAGS = {
  waiting: { value: 'N', fallback: '100000', about: 'Jobs that wait', parse: wholeNumber(1) },
  queues: { value: 'LIST', fallback: '1,10,1000', about: 'numbers of ClusterQueues, ten or fewer cohorts', parse: numbers },
  clusters: { value: 'LIST', fallback: '100', about: 'numbers of worker clusters', parse: numbers },
  requests: {
    value: 'LIST',
    fallback: 'different',
    about: `what the Jobs ask for: ${REQUESTS.join(', ')}`,
    parse: listOf(REQUESTS),
  },
  limits: { value: 'LIST', fallback: 'quota', about: `what is scarce: ${LIMITS.join(', ')}`, parse: listOf(LIMITS) },
  policies: {
    value: 'LIST',
    fallback: POLICIES.join(','),
    about: `who may displace whom: ${POLICIES.join(', ')} (preemption and fair sharing)`,
    parse: listOf(POLICIES),
  },
  releases: { value: 'N', fallback: '500', about: 'Jobs that end, or that arrive and preempt, one after the other', parse: wholeNumber(1) },
  parts: { value: 'LIST', fallback: PARTS.join(','), about: `what to measure: ${PARTS.join(', ')}`, parse: listOf(PARTS) },
  shapes: {
    value: 'LIST',
    fallback: Object.keys(KUEUE_SHAPES).join(','),
    about: 'shapes of Kueue to play',
    parse: listOf(Object.keys(KUEUE_SHAPES)),
  },
} satisfies FlagTable;

/** Jobs of one cpu that run at once. */
const RUNNING = 2_000;

export const admissionSuite = defineSuite(
  FLAGS,
  ({ waiting, queues, clusters, requests, limits, policies, releases, parts, shapes }) =>
    async () => {
      const combinations = queues.flatMap((queueCount) =>
        clusters.flatMap((clusterCount) => policies.map((policy) => ({ queueCount, clusterCount, policy }))),
      );
      if (parts.includes('decisions')) {
        print([...LOAD_TITLES, 'fill/s', 'release p50', 'p99', 'decisions/s', 'preemption p50', 'p99', 'longest cycle', 'bytes/Job']);
        for (const combination of combinations)
          for (const kind of requests) for (const limit of limits) print(measure({ waiting, ...combination, kind, limit, releases }));
      }
      if (parts.includes('changes')) {
        for (const combination of combinations) {
          const { queueCount, clusterCount, policy } = combination;
          console.log(`${waiting} Jobs wait in ${queueCount} queues for ${clusterCount} clusters, policies: ${policy}`);
          for (const line of await measureChanges({ waiting, running: RUNNING, ...combination })) print(line);
        }
      }
      if (parts.includes('log')) {
        for (const combination of combinations)
          for await (const line of measureDecisionLog({ waiting, running: RUNNING, ...combination })) print(line);
      }
      if (parts.includes('kueue')) for (const name of shapes) for (const preempts of [false, true]) print(shapeLine(name, preempts));
      return true;
    },
);

const LOAD_TITLES = ['queues', 'clusters', 'requests', 'scarce', 'policies'];

function shapeLine(name: string, preempts: boolean): readonly string[] {
  const { jobs, seconds, floorSeconds, lostSeconds, preemptions, cpuSeconds, cycles } = playShape(shapeNamed(name), preempts);
  return [
    name,
    preempts ? 'with preemption' : 'without preemption',
    `${jobs} Jobs`,
    `${seconds.toFixed(1)} s`,
    `${(seconds / floorSeconds).toFixed(3)} of the floor`,
    ...(preempts ? [`${preemptions} preemptions`, `${lostSeconds.toFixed(1)} s lost`] : []),
    `${cpuSeconds.toFixed(1)} s cpu`,
    `${cycles} cycles`,
  ];
}

type Load = {
  readonly waiting: number;
  readonly queueCount: number;
  readonly clusterCount: number;
  readonly kind: (typeof REQUESTS)[number];
  readonly limit: (typeof LIMITS)[number];
  readonly policy: Policy;
  readonly releases: number;
};

function measure({ waiting, queueCount, clusterCount, kind, limit, policy, releases }: Load): readonly string[] {
  const plenty = 1_000_000;
  const preempts = policy !== 'none';
  // Two queues next to each other are of one cohort: where some preempt, nobody waits in the first of them, and the other borrows all that is its own.
  const cohortName = (index: number): string => `cohort-${(preempts ? index >> 1 : index) % 10}`;
  const clusterQueues = Array.from({ length: queueCount }, (_, index) =>
    cpuQueue(`queue-${index}`, limit === 'room' ? plenty : RUNNING / queueCount, undefined, {
      cohortName: cohortName(index),
      ...(preempts ? { preemption: PREEMPTION } : {}),
    }),
  );
  const states = Array.from({ length: clusterCount }, (_, index) =>
    cpuCluster(`cluster-${index}`, limit === 'room' ? Math.max(1, Math.floor(RUNNING / clusterCount)) : plenty),
  );
  const crowded = (index: number): number => Math.min(queueCount - 1, (index % queueCount) | 1);
  const random = seededRandom(1);
  const bytesBefore = memoryUsage().heapUsed;
  const core = createAdmissionCore(clusterQueues, states, policy === 'fair' ? { fairSharing: FAIR_SHARING } : {});
  for (let index = 0; index < waiting; index++) {
    const cpu = kind === 'equal' ? '1' : `${500 + Math.floor(random() * 1_000_000) / 1000}m`;
    core.arrive(`queue-${preempts ? crowded(index) : index % queueCount}`, `job-${index}`, cpu);
  }
  const bytes = (memoryUsage().heapUsed - bytesBefore) / waiting;
  let longestMs = 0;
  const settle = (): number => {
    let admitted = 0;
    for (let beforeMs = cpuMs(); ; ) {
      const result = core.cycle(1);
      const nowMs = cpuMs();
      longestMs = Math.max(longestMs, nowMs - beforeMs);
      beforeMs = nowMs;
      if (result === undefined) return admitted;
      admitted += result;
    }
  };
  const filledMs = cpuMs();
  const filled = settle();
  const fillMs = cpuMs() - filledMs;
  const timesOf = <T>(each: Iterable<T>, happen: (one: T) => void): { readonly times: readonly number[]; readonly admitted: number } => {
    const times: number[] = [];
    let admitted = 0;
    for (const one of each) {
      const startedMs = cpuMs();
      happen(one);
      admitted += settle();
      times.push(cpuMs() - startedMs);
    }
    return { times: times.toSorted((a, b) => a - b), admitted };
  };
  const ends = timesOf([...core.running.keys()].slice(0, releases), core.release);
  const totalMs = ends.times.reduce((sum, ms) => sum + ms, 0);
  // In turn one that takes back what its queue has lent, and one that is worth more than those of its own queue.
  const arrivals = preempts
    ? timesOf(Array.from({ length: releases }).keys(), (index) =>
        core.arrive(`queue-${index % queueCount}`, `late-${index}`, '1', index % 2 === 0 && queueCount > 1 ? 0 : 1),
      )
    : undefined;
  return [
    `${queueCount}`,
    `${clusterCount}`,
    kind,
    limit,
    policy,
    `${Math.round((filled / fillMs) * 1000)}`,
    percentile(ends.times, 0.5),
    percentile(ends.times, 0.99),
    `${Math.round((ends.admitted / totalMs) * 1000)}`,
    arrivals === undefined ? '' : percentile(arrivals.times, 0.5),
    arrivals === undefined ? '' : percentile(arrivals.times, 0.99),
    `${longestMs.toFixed(1)} ms`,
    `${Math.round(bytes)}`,
  ];
}

const percentile = (sorted: readonly number[], share: number): string =>
  `${(sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2)} ms`;

function numbers(given: string): readonly number[] {
  const list = given.split(',').map(Number);
  if (list.some((each) => !Number.isInteger(each) || each < 1)) throw new FlagError('is a list of whole numbers from 1 on');
  return list;
}

const print = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);

function shapeNamed(name: string): Shape {
  const shape = KUEUE_SHAPES[name];
  if (shape === undefined) throw new Error(`no shape is called ${name}`);
  return shape;
}
