/**
 * What a scrape of a large installation costs a manager: how much it is, the processor time of it, and for how long at once it keeps
 * everything else from going on.
 */
import { Registry } from 'prom-client';
import { createManagerMetrics, type ManagerMetrics } from '../../manager/metrics/metrics.ts';
import { clusterGauges } from '../../manager/metrics/cluster-gauges.ts';
import { createSeriesKeeper } from '../../manager/metrics/series-keeper.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { wholeNumber } from '../../shared/runtime/flags.ts';
import { createMetricsText } from '../../shared/runtime/metrics-text.ts';
import { cpuQueue } from './admission-core.ts';
import { createAdmissionWhole } from './admission-whole.ts';
import { threadCpuMs } from './cpu-time.ts';
import { watchTurns } from './longest-turn.ts';
import { defineSuite } from './suite.ts';

const FLAGS = {
  waiting: { value: 'N', fallback: '100000', about: 'Jobs that wait', parse: wholeNumber(1) },
  queues: { value: 'N', fallback: '1000', about: 'ClusterQueues, each with a LocalQueue', parse: wholeNumber(1) },
  clusters: { value: 'N', fallback: '100', about: 'worker clusters', parse: wholeNumber(1) },
  scrapes: { value: 'N', fallback: '15', about: 'scrapes; of each figure the median is printed', parse: wholeNumber(1) },
} as const;

/** What a scrape may keep others waiting, in processor time. */
const AT_ONCE_MS_MAX = 50;
/** Of a queue, so many clusters have had Jobs. */
const CLUSTERS_OF_QUEUE = 5;

export const scrapeSuite = defineSuite(FLAGS, ({ waiting, queues, clusters, scrapes }) => async () => {
  const registry = new Registry();
  const metrics = createManagerMetrics(registry);
  const whole = createAdmissionWhole(undefined, undefined, metrics.admission);
  const { informers, admission } = whole;
  const nobody = { addHandler: () => undefined, get: () => undefined };
  createSeriesKeeper({ ...informers, submissionQueues: nobody, kinds: ['Job'], registry, metrics, clock: systemClock });
  for (let index = 0; index < queues; index++) whole.queue(cpuQueue(`queue-${index}`, 1, undefined));
  for (let index = 0; index < clusters; index++) whole.cluster(`cluster-${index}`, queues);
  for (let index = 0; index < waiting; index++) whole.job(`queue-${index % queues}`, `job-${index}`, '1');
  count(metrics, queues, clusters);
  metrics.state.observe(() => {
    const state = admission.observed();
    return { ...state, clusters: clusterGauges(informers.workerClusters.list(), { ...state, heardMs: () => 1, clock: systemClock }) };
  });
  whole.start();
  for (let before = -1; before !== whole.running(); await turns(20)) before = whole.running();

  const text = createMetricsText(registry, systemClock);
  const taken: { readonly cpuMs: number; readonly atOnceMs: number; readonly observedMs: number }[] = [];
  let told = '';
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const observing = threadCpuMs();
    admission.observed();
    const observedMs = threadCpuMs() - observing;
    const watch = watchTurns();
    const begun = threadCpuMs();
    told = await text.metrics();
    const cpuMs = threadCpuMs() - begun;
    taken.push({ cpuMs, atOnceMs: await watch.longestMs(), observedMs });
  }
  await whole.stop();
  const median = (of: (each: (typeof taken)[number]) => number): number => taken.map(of).toSorted((a, b) => a - b)[scrapes >> 1] ?? 0;
  const atOnceMs = median((each) => each.atOnceMs);
  const series = told.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  console.log(`${waiting} Jobs wait in ${queues} queues, ${clusters} clusters`);
  console.log(`  series            ${series} (${(told.length / 2 ** 20).toFixed(1)} MiB)`);
  console.log(`  looking at queues ${median((each) => each.observedMs).toFixed(1)} ms`);
  console.log(`  a scrape          ${median((each) => each.cpuMs).toFixed(0)} ms of processor time, what goes on beside it included`);
  console.log(`  at once           ${atOnceMs.toFixed(0)} ms, permitted: ${AT_ONCE_MS_MAX}`);
  return atOnceMs <= AT_ONCE_MS_MAX;
});

/** What comes to be counted where Jobs have come and gone. */
function count({ admission, dispatch }: ManagerMetrics, queues: number, clusters: number): void {
  for (let index = 0; index < queues; index++) {
    const cluster_queue = `queue-${index}`;
    admission.waitTime.observe({ cluster_queue }, index);
    for (const outcome of ['Complete', 'Failed']) admission.runTime.observe({ cluster_queue, outcome }, index);
    for (let each = 0; each < CLUSTERS_OF_QUEUE; each++) {
      const cluster = `cluster-${(index + each) % clusters}`;
      admission.admitted.inc({ cluster_queue, cluster });
      dispatch.dispatched.inc({ cluster_queue, cluster });
    }
  }
  for (let index = 0; index < clusters; index++) {
    const cluster = `cluster-${index}`;
    dispatch.dispatchDuration.observe({ cluster }, index);
    dispatch.statusLag.observe({ cluster }, index);
    const queue = dispatch.workqueues.of('copies', cluster);
    queue.got(1, 1, 1);
    queue.done(1, 1);
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 25));
};
