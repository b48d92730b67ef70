/**
 * One-pod Jobs over many worker clusters, and over two of the same: what a Job costs the manager must not depend on how many clusters there
 * are. The clusters share a process and complete each copy at once, so that managers are compared and not workers.
 */
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { startFleet, startFleetManager, type Fleet, type Load } from './fleet-world.ts';
import { defineSuite } from './suite.ts';

const FEW = 2;
/** Of the processor time for a Job with few clusters. The connections to the others, and what they say, take some. */
const COST_MAX = 1.5;

const FLAGS = {
  clusters: { value: 'N', fallback: '100', about: 'worker clusters', parse: wholeNumber(FEW, 500) },
  jobs: { value: 'N', fallback: '1000', about: 'in each phase', parse: wholeNumber(1) },
  pairs: { value: 'N', fallback: '2', about: 'of phases, one over many clusters and one over two', parse: wholeNumber(1, 10) },
} satisfies FlagTable;

export const manyClustersSuite = defineSuite(FLAGS, ({ clusters, jobs, pairs }) => async () => {
  const figures = await measureManyClusters(clusters, jobs, pairs);
  print(clusters, figures);
  return figures.cost < COST_MAX;
});

export type ManyClustersFigures = {
  readonly few: readonly Load[];
  readonly many: readonly Load[];
  /** Processor time of the manager for a Job over many clusters, for each over two: the mean of the pairs. */
  readonly cost: number;
};

export async function measureManyClusters(clusters: number, jobs: number, pairs: number): Promise<ManyClustersFigures> {
  await using resources = new AsyncDisposableStack();
  const fleet = await startFleet(clusters, resources);
  const few: Load[] = [];
  const many: Load[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    few.push(await measure(fleet, FEW, jobs));
    many.push(await measure(fleet, clusters, jobs));
  }
  const cost = few.reduce((sum, { managerMs }, index) => sum + (many[index]?.managerMs ?? 0) / managerMs, 0) / pairs;
  return { few, many, cost };
}

/** By a manager of its own, which ends before the next one begins: two with the same clusters would be in each other's way. */
async function measure({ kubeconfigs }: Fleet, clusters: number, jobs: number): Promise<Load> {
  await using resources = new AsyncDisposableStack();
  const manager = await startFleetManager(new Map([...kubeconfigs].slice(0, clusters)), resources);
  await manager.load('warm-up', Math.min(jobs, 300));
  // Awaited here: what it needs ends with this function.
  return await manager.load('load', jobs);
}

export function print(clusters: number, { few, many, cost }: ManyClustersFigures): void {
  const line = (count: number, { perSecond, managerMs }: Load): string =>
    `  ${String(count).padStart(4)} clusters  ${perSecond.toFixed(1)} Jobs/s  manager ${managerMs.toFixed(2)} ms a Job`;
  for (const [index, load] of few.entries()) {
    console.log(line(FEW, load));
    const other = many[index];
    if (other !== undefined) console.log(line(clusters, other));
  }
  console.log(`  processor time of the manager for a Job over ${clusters} clusters, of that over ${FEW}: ${(cost * 100).toFixed(0)} %`);
}
