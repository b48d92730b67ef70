/**
 * What admission decides, without the API server around it: very many waiting Jobs, all equal or all different, in some queues and on some
 * clusters; then one Job after the other ends, and, where some preempt others, one after the other arrives that does. After that how long
 * whatever an administrator changes stops everything else, and the shapes of Kueue's own performance test, played in virtual time: how much
 * longer than the quota allows they take. Times are processor time, so that other programs of the machine do not count.
 */
import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FlagError, listOf, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { FAIR_SHARING, measureChanges, PREEMPTION, type Policy } from './admission-changes.ts';
import { cpuCluster, cpuQueue, createAdmissionCore } from './admission-core.ts';
import { measureDecisionLog } from './admission-log.ts';
import { cpuMs, threadCpuMs } from './cpu-time.ts';
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
  'warm-up': {
    value: 'N',
    fallback: '500',
    about: 'Jobs that end before that and are not counted: what compiles meanwhile takes longer',
    parse: wholeNumber(0),
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
  ({ waiting, queues, clusters, requests, limits, policies, 'warm-up': warmUp, releases, parts, shapes }) =>
    async () => {
      const combinations = queues.flatMap((queueCount) =>
        clusters.flatMap((clusterCount) => policies.map((policy) => ({ queueCount, clusterCount, policy }))),
      );
      if (parts.includes('decisions')) {
        print([
          ...LOAD_TITLES,
          'fill/s',
          'release p50',
          'p99',
          'admitted/s',
          'decisions/s',
          'preemption p50',
          'p99',
          'longest cycle',
          'bytes/Job',
        ]);
        for (const combination of combinations)
          for (const kind of requests)
            for (const limit of limits) print(measure({ waiting, ...combination, kind, limit, warmUp, releases }));
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
  readonly warmUp: number;
  readonly releases: number;
};

function measure({ waiting, queueCount, clusterCount, kind, limit, policy, warmUp, releases }: Load): readonly string[] {
  const plenty = 1_000_000;
  const preempts = policy !== 'none';
  // Two queues next to each other are of one cohort: where some preempt, nobody waits in the first of them, and the other borrows all that
  // is its own.
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
  collectGarbage();
  const bytesBefore = memoryUsage().heapUsed;
  const core = createAdmissionCore(clusterQueues, states, policy === 'fair' ? { fairSharing: FAIR_SHARING } : {});
  for (let index = 0; index < waiting; index++) {
    const cpu = kind === 'equal' ? '1' : `${500 + Math.floor(random() * 1_000_000) / 1000}m`;
    core.arrive(`queue-${preempts ? crowded(index) : index % queueCount}`, `job-${index}`, cpu);
  }
  collectGarbage();
  const bytes = (memoryUsage().heapUsed - bytesBefore) / waiting;
  let longestMs = 0;
  const settle = (): Decided => {
    const total = { decided: 0, admitted: 0 };
    for (let beforeMs = cpuMs(); ; ) {
      const result = core.cycle(1);
      const nowMs = cpuMs();
      longestMs = Math.max(longestMs, nowMs - beforeMs);
      beforeMs = nowMs;
      if (result === undefined) return total;
      total.decided += result.decided;
      total.admitted += result.admitted;
    }
  };
  const filledMs = cpuMs();
  const filled = settle().admitted;
  const fillMs = cpuMs() - filledMs;
  const timesOf = <T>(
    each: Iterable<T>,
    happen: (one: T) => void,
  ): Decided & { readonly times: readonly number[]; readonly ownTimes: readonly number[] } => {
    const times: number[] = [];
    const ownTimes: number[] = [];
    const total = { decided: 0, admitted: 0 };
    for (const one of each) {
      const ownStartedMs = threadCpuMs();
      const startedMs = cpuMs();
      happen(one);
      const { decided, admitted } = settle();
      times.push(cpuMs() - startedMs);
      ownTimes.push(threadCpuMs() - ownStartedMs);
      total.decided += decided;
      total.admitted += admitted;
    }
    return { ...total, times: times.toSorted((a, b) => a - b), ownTimes: ownTimes.toSorted((a, b) => a - b) };
  };
  const oldest = function* (count: number): Generator<string> {
    for (let index = 0; index < count; index++) {
      const [key] = core.running.keys();
      if (key !== undefined) yield key;
    }
  };
  timesOf(oldest(warmUp), core.release);
  // What the waiting Jobs and the filling have left behind is no part of what a release costs.
  collectGarbage();
  const ends = timesOf(oldest(releases), core.release);
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
    percentile(ends.ownTimes, 0.99),
    `${Math.round((ends.admitted / totalMs) * 1000)}`,
    `${Math.round((ends.decided / totalMs) * 1000)}`,
    arrivals === undefined ? '' : percentile(arrivals.times, 0.5),
    arrivals === undefined ? '' : percentile(arrivals.times, 0.99),
    `${longestMs.toFixed(1)} ms`,
    `${Math.round(bytes)}`,
  ];
}

type Decided = { decided: number; admitted: number };

/** So that what a part has left behind is not collected in the next one. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
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
