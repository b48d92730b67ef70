/**
 * One-pod Jobs over two steady worker clusters, while nothing happens and while all other clusters, on which many Jobs run, come and go
 * together. What is written about a flap must not keep anybody's final status waiting. The manager has its default rates, because that is
 * what all writes share.
 */
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { startFleet, startFleetManager, throughProxy } from './fleet-world.ts';
import { quantile } from './quantile.ts';
import { defineSuite } from './suite.ts';

/** The 99th percentile of the time until a final status is home may grow by so much. */
const DELAY_MS_MAX = 1_000;
/** Long enough for a probe to fail, and for a Lease to be renewed again. */
const CUT_MS = 40_000;
const MENDED_MS = 20_000;
/** Rate of the measured Jobs: a quarter of what the rates of the manager carry. */
const JOBS_PER_SECOND = 5;

const FLAGS = {
  clusters: { value: 'N', fallback: '20', about: 'worker clusters that come and go', parse: wholeNumber(1, 100) },
  jobs: { value: 'N', fallback: '1000', about: 'that run on each of them', parse: wholeNumber(1) },
  flaps: { value: 'N', fallback: '2', about: 'how often they go and come back', parse: wholeNumber(1, 20) },
} satisfies FlagTable;

export const flappingClustersSuite = defineSuite(FLAGS, ({ clusters, jobs, flaps }) => async () => {
  const figures = await measureFlaps(clusters, jobs, flaps);
  print(clusters, jobs, figures);
  return delayOf(figures) <= DELAY_MS_MAX;
});

export type FlapFigures = {
  /** From the answer to the create until the Job is Complete at home, in milliseconds, ascending. */
  readonly steadyMs: readonly number[];
  readonly flappingMs: readonly number[];
};

async function measureFlaps(clusters: number, jobs: number, flaps: number): Promise<FlapFigures> {
  await using resources = new AsyncDisposableStack();
  // What comes back is listed wholly: served by the process of the steady clusters, that would keep these from answering.
  const [steadyFleet, others] = await Promise.all([startFleet(2, resources, 'steady'), startFleet(clusters, resources)]);
  const wired = await Promise.all(
    [...others.kubeconfigs].map(async ([name, kubeconfig]) => ({ name, ...(await throughProxy(kubeconfig, resources)) })),
  );
  const all = new Map([...steadyFleet.kubeconfigs, ...wired.map(({ name, kubeconfig }) => [name, kubeconfig] as const)]);
  const manager = await startFleetManager(all, resources);
  for (const { name } of wired) await manager.occupy(name, jobs);
  await manager.restartWithRates();
  const steady = [...steadyFleet.kubeconfigs.keys()].join(',');
  const measure = (phase: string): Promise<readonly number[]> =>
    manager.latencies(phase, ((CUT_MS + MENDED_MS) / 1000) * flaps * JOBS_PER_SECOND, JOBS_PER_SECOND, steady);
  await measure('warm-up');
  const steadyMs = await measure('steady');
  const flapping = measure('flapping');
  for (let flap = 0; flap < flaps; flap++) {
    for (const { proxy } of wired) proxy.cut();
    await sleep(systemClock, CUT_MS);
    for (const { proxy } of wired) proxy.mend();
    await sleep(systemClock, MENDED_MS);
  }
  return { steadyMs, flappingMs: await flapping };
}

const delayOf = ({ steadyMs, flappingMs }: FlapFigures): number => quantile(flappingMs, 0.99) - quantile(steadyMs, 0.99);

function print(clusters: number, jobs: number, figures: FlapFigures): void {
  const line = (title: string, ms: readonly number[]): string =>
    `  ${title.padEnd(10)} ${ms.length} Jobs, created to Complete: p50 ${quantile(ms, 0.5).toFixed(0)} ms, p99 ${quantile(ms, 0.99).toFixed(0)} ms, max ${quantile(ms, 1).toFixed(0)} ms`;
  console.log(line('steady', figures.steadyMs));
  console.log(line('flapping', figures.flappingMs));
  console.log(
    `  p99 beside ${clusters} clusters of ${jobs} Jobs that come and go: ${delayOf(figures).toFixed(0)} ms more (at most ${DELAY_MS_MAX})`,
  );
}
