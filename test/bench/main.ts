/** `npm run bench -- SUITE [flags]`: measures, prints, and exits with 1 when a figure is outside its permitted range. */
import { EXIT_USAGE } from '../../shared/runtime/flags.ts';
import type { Suite } from './suite.ts';

/** Loaded when it is asked for: a suite brings much with it. */
type SuiteEntry = { readonly about: string; load(): Promise<Suite> };
const SUITES: ReadonlyMap<string, SuiteEntry> = new Map([
  [
    'job-controller',
    {
      about: 'the worker running Jobs whose pods succeed at once: pods a minute, API calls a pod, CPU, memory, sync latency',
      load: async () => (await import('./job-controller.ts')).jobControllerSuite,
    },
  ],
  [
    'dispatch',
    {
      about: 'the whole way of one-pod Jobs over two worker clusters: Jobs a second, latency, API calls of the manager per Job',
      load: async () => (await import('./dispatch.ts')).dispatchSuite,
    },
  ],
  [
    'restart',
    {
      about:
        'a manager that begins to lead beside Jobs that wait and run, after a start, a crash or a stop: its first decision, its memory, and what it writes',
      load: async () => (await import('./restart.ts')).restartSuite,
    },
  ],
  [
    'hostile-cluster',
    {
      about: 'what a hostile worker cluster costs the others: Jobs a second on two honest ones with and without it, memory of the manager',
      load: async () => (await import('./hostile-cluster.ts')).hostileClusterSuite,
    },
  ],
  [
    'dark-cluster',
    {
      about: 'what a worker cluster that answers nothing any more costs the others: Jobs a second, CPU of the manager',
      load: async () => (await import('./dark-cluster.ts')).darkClusterSuite,
    },
  ],
  [
    'flapping-clusters',
    {
      about: 'what twenty worker clusters that come and go together cost the Jobs of others: time until a final status is home',
      load: async () => (await import('./flapping-clusters.ts')).flappingClustersSuite,
    },
  ],
  [
    'many-clusters',
    {
      about: 'a hundred worker clusters against two: Jobs a second, CPU of the manager per Job',
      load: async () => (await import('./many-clusters.ts')).manyClustersSuite,
    },
  ],
  [
    'admission',
    {
      about: 'deciding at 100,000 waiting Jobs, by queues, clusters and what they ask for; the shapes of Kueue’s performance test',
      load: async () => (await import('./admission.ts')).admissionSuite,
    },
  ],
  [
    'packing',
    {
      about:
        'how full clusters stay and how long Jobs wait where some ask for most of a cluster; beside it EASY and conservative backfilling',
      load: async () => (await import('./packing.ts')).packingSuite,
    },
  ],
  [
    'intake',
    {
      about: 'submissions: accepted, parked and settled a second, what parked ones cost, accepted to created, Jobs made of a backlog',
      load: async () => (await import('./intake.ts')).intakeSuite,
    },
  ],
  [
    'control-plane',
    {
      about: 'the embedded control plane over the network: writes a second, watch fan-out, lists, memory per object',
      load: async () => (await import('./control-plane.ts')).controlPlaneSuite,
    },
  ],
  [
    'memory',
    {
      about: 'a manager on whose cluster very many Jobs wait: the memory it keeps, and how soon all know why',
      load: async () => (await import('./memory.ts')).memorySuite,
    },
  ],
  [
    'scrape',
    {
      about: 'what a scrape of the metrics of a large installation costs a manager, and for how long at once nothing else goes on',
      load: async () => (await import('./scrape.ts')).scrapeSuite,
    },
  ],
  [
    'dashboard',
    {
      about: 'open pages of the dashboard: processor time, memory and bytes of a manager, from a change to the page, the first page',
      load: async () => (await import('./dashboard.ts')).dashboardSuite,
    },
  ],
  [
    'invariants',
    {
      about: 'what it costs a manager to look whether its promises hold, where very many Jobs wait and run over a hundred clusters',
      load: async () => (await import('./invariants.ts')).invariantsSuite,
    },
  ],
  [
    'start-up',
    {
      about: 'starting the worker and the manager: time and processor time until /readyz says 200, memory while idle',
      load: async () => (await import('./start-up.ts')).startUpSuite,
    },
  ],
]);

const EXIT_TERMINATED = 143;
const EXIT_INTERRUPTED = 130;

// By an orderly exit, because programs started by a suite end with this process.
process.once('SIGTERM', () => process.exit(EXIT_TERMINATED));
process.once('SIGINT', () => process.exit(EXIT_INTERRUPTED));

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h') {
    console.log(helpText());
    return 0;
  }
  const suite = name === undefined ? undefined : SUITES.get(name);
  if (name === undefined || suite === undefined) {
    const problem = name === undefined ? 'no suite is named' : `there is no suite ${JSON.stringify(name)}`;
    return refuse(`${problem}; write npm run bench -- SUITE with one of ${[...SUITES.keys()].join(', ')}`);
  }
  const { prepare } = await suite.load();
  const parsed = prepare({ name, about: suite.about }, args, process.env);
  switch (parsed.kind) {
    case 'Help':
      process.stdout.write(parsed.text);
      return 0;
    case 'Invalid':
      return refuse(parsed.problem);
    case 'Run':
      return (await parsed.config()) ? 0 : 1;
  }
}

function refuse(problem: string): number {
  console.error(`bench: ${problem}`);
  return EXIT_USAGE;
}

function helpText(): string {
  const suites = [...SUITES].map(([name, { about }]) => `  ${name}\n      ${about}\n`);
  return `Usage: npm run bench -- SUITE [flags]\n\n${suites.join('')}\nnpm run bench -- SUITE --help lists the flags of a suite.`;
}
