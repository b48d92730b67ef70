/**
 * What admission decides, without the API server around it: very many waiting Jobs, all equal or all different, in some queues and on some clusters; then one Job
 * after the other ends. Times are processor time, so that other programs of the machine do not count. After that the shapes of Kueue's own performance
 * test, played in virtual time: how much longer than the quota allows they take.
 */
import { cpuUsage, memoryUsage } from 'node:process';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FlagError, listOf, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { cpuCluster, cpuQueue, createAdmissionCore, type AdmissionCore } from './admission-core.ts';
import { KUEUE_SHAPES, playShape } from './kueue-shapes.ts';
import { defineSuite } from './suite.ts';

const LIMITS = ['room', 'quota'] as const;
const REQUESTS = ['equal', 'different'] as const;

const FLAGS = {
  waiting: { value: 'N', fallback: '100000', about: 'Jobs that wait', parse: wholeNumber(1) },
  queues: { value: 'LIST', fallback: '1,10,1000', about: 'numbers of ClusterQueues, ten or fewer cohorts', parse: numbers },
  clusters: { value: 'LIST', fallback: '3,100,300', about: 'numbers of worker clusters', parse: numbers },
  requests: {
    value: 'LIST',
    fallback: REQUESTS.join(','),
    about: `what the Jobs ask for: ${REQUESTS.join(', ')}`,
    parse: listOf(REQUESTS),
  },
  limits: { value: 'LIST', fallback: LIMITS.join(','), about: `what is scarce: ${LIMITS.join(', ')}`, parse: listOf(LIMITS) },
  releases: { value: 'N', fallback: '500', about: 'Jobs that end, one after the other', parse: wholeNumber(1) },
  shapes: {
    value: 'LIST',
    fallback: Object.keys(KUEUE_SHAPES).join(','),
    about: 'shapes of Kueue to play',
    parse: listOf(Object.keys(KUEUE_SHAPES)),
  },
} satisfies FlagTable;

/** Jobs of one cpu that run at once. */
const RUNNING = 2_000;

export const admissionSuite = defineSuite(FLAGS, ({ waiting, queues, clusters, requests, limits, releases, shapes }) => () => {
  print(['queues', 'clusters', 'requests', 'scarce', 'fill/s', 'release p50', 'p99', 'decisions/s', 'longest cycle', 'bytes/Job']);
  for (const queueCount of queues)
    for (const clusterCount of clusters)
      for (const kind of requests) for (const limit of limits) print(measure({ waiting, queueCount, clusterCount, kind, limit, releases }));
  for (const name of shapes) {
    const { jobs, seconds, floorSeconds, cpuSeconds, cycles } = playShape(name);
    print([
      name,
      `${jobs} Jobs`,
      `${seconds.toFixed(1)} s`,
      `${(seconds / floorSeconds).toFixed(3)} of the floor`,
      `${cpuSeconds.toFixed(1)} s cpu`,
      `${cycles} cycles`,
    ]);
  }
  return Promise.resolve(true);
});

type Load = {
  readonly waiting: number;
  readonly queueCount: number;
  readonly clusterCount: number;
  readonly kind: (typeof REQUESTS)[number];
  readonly limit: (typeof LIMITS)[number];
  readonly releases: number;
};

function measure({ waiting, queueCount, clusterCount, kind, limit, releases }: Load): readonly string[] {
  const plenty = 1_000_000;
  const clusterQueues = Array.from({ length: queueCount }, (_, index) =>
    cpuQueue(`queue-${index}`, limit === 'room' ? plenty : RUNNING / queueCount, undefined, { cohortName: `cohort-${index % 10}` }),
  );
  const states = Array.from({ length: clusterCount }, (_, index) =>
    cpuCluster(`cluster-${index}`, limit === 'room' ? Math.max(1, Math.floor(RUNNING / clusterCount)) : plenty),
  );
  const random = seededRandom(1);
  const bytesBefore = memoryUsage().heapUsed;
  const core = createAdmissionCore(clusterQueues, states);
  for (let index = 0; index < waiting; index++) {
    const cpu = kind === 'equal' ? '1' : `${500 + Math.floor(random() * 1_000_000) / 1000}m`;
    core.arrive(`queue-${index % queueCount}`, `job-${index}`, cpu);
  }
  const bytes = (memoryUsage().heapUsed - bytesBefore) / waiting;
  let longestMs = 0;
  const settle = (): number => {
    let admitted = 0;
    for (;;) {
      const startedMs = cpuMs();
      const result = core.cycle(1);
      longestMs = Math.max(longestMs, cpuMs() - startedMs);
      if (result === undefined) return admitted;
      admitted += result;
    }
  };
  const filledMs = cpuMs();
  const filled = settle();
  const fillMs = cpuMs() - filledMs;
  const times: number[] = [];
  let admitted = 0;
  for (const key of firstOf(core, releases)) {
    const startedMs = cpuMs();
    core.release(key);
    admitted += settle();
    times.push(cpuMs() - startedMs);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => `${(times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2)} ms`;
  const totalMs = times.reduce((sum, ms) => sum + ms, 0);
  return [
    `${queueCount}`,
    `${clusterCount}`,
    kind,
    limit,
    `${Math.round((filled / fillMs) * 1000)}`,
    at(0.5),
    at(0.99),
    `${Math.round((admitted / totalMs) * 1000)}`,
    `${longestMs.toFixed(1)} ms`,
    `${Math.round(bytes)}`,
  ];
}

const firstOf = (core: AdmissionCore, count: number): string[] => [...core.running.keys()].slice(0, count);

function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

function numbers(given: string): readonly number[] {
  const list = given.split(',').map(Number);
  if (list.some((each) => !Number.isInteger(each) || each < 1)) throw new FlagError('is a list of whole numbers from 1 on');
  return list;
}

const print = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);
