/**
 * One-pod Jobs over two worker clusters, in turn while a third one is well and while it is a black hole: its connections stay open, and
 * nothing comes through them. Copies run there all the time. What the third one does must cost the others nothing.
 */
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { startFleet, startFleetManager, throughProxy, type Load } from './fleet-world.ts';
import { defineSuite } from './suite.ts';

/** What Jobs a second on the others may lose. */
const LOSS_MAX = 0.05;

const FLAGS = {
  jobs: { value: 'N', fallback: '1000', about: 'in each phase', parse: wholeNumber(1) },
  copies: { value: 'N', fallback: '200', about: 'that run on the third cluster', parse: wholeNumber(0) },
  pairs: { value: 'N', fallback: '3', about: 'of phases, one with the third cluster dark', parse: wholeNumber(1, 10) },
} satisfies FlagTable;

export const darkClusterSuite = defineSuite(FLAGS, ({ jobs, copies, pairs }) => async () => {
  const figures = await measureDarkCluster(jobs, copies, pairs);
  print(figures);
  return figures.throughput > 1 - LOSS_MAX;
});

export type DarkFigures = {
  readonly phases: readonly (Load & { readonly dark: boolean })[];
  /** Jobs a second beside a dark cluster, for each beside one that is well. */
  readonly throughput: number;
  /** The same of the manager's processor time for a Job. */
  readonly cost: number;
};

export async function measureDarkCluster(jobs: number, copies: number, pairs: number): Promise<DarkFigures> {
  await using resources = new AsyncDisposableStack();
  const { kubeconfigs } = await startFleet(3, resources);
  const [east = '', west = '', third = ''] = kubeconfigs.keys();
  const { proxy, kubeconfig } = await throughProxy(kubeconfigs.get(third) ?? '', resources);
  const manager = await startFleetManager(new Map([...kubeconfigs, [third, kubeconfig]]), resources);
  await manager.occupy(third, copies);
  const both = `${east},${west}`;
  await manager.load('warm-up', Math.min(jobs, 300), both);
  const phases: (Load & { dark: boolean })[] = [];
  for (let index = 0; index < 1 + 2 * pairs; index++) {
    const dark = index % 2 === 1;
    if (dark) proxy.cut();
    else proxy.mend();
    phases.push({ dark, ...(await manager.load(`phase-${index}`, jobs, both)) });
  }
  return { phases, throughput: ratio(phases, ({ perSecond }) => perSecond), cost: ratio(phases, ({ managerMs }) => managerMs) };
}

/** Each dark phase against the mean of the two beside it: Jobs that have ended stay, so every phase costs a little more than the last. */
function ratio(phases: DarkFigures['phases'], value: (load: Load) => number): number {
  const ratios = phases.flatMap((phase, index) => {
    const before = phases[index - 1];
    const after = phases[index + 1];
    return phase.dark && before !== undefined && after !== undefined ? [value(phase) / ((value(before) + value(after)) / 2)] : [];
  });
  return ratios.reduce((sum, each) => sum + each, 0) / ratios.length;
}

export function print({ phases, throughput, cost }: DarkFigures): void {
  for (const { dark, perSecond, managerMs } of phases)
    console.log(
      `  ${perSecond.toFixed(1)} Jobs/s  manager ${managerMs.toFixed(2)} ms a Job  the third cluster is ${dark ? 'a black hole' : 'well'}`,
    );
  console.log(`  Jobs a second beside a black hole, of those beside a cluster that is well    ${(throughput * 100).toFixed(1)} %`);
  console.log(`  processor time of the manager for a Job, of that                             ${(cost * 100).toFixed(1)} %`);
}
