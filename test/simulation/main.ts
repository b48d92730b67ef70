/** `npm run simulate`: one seed with its trace, or a soak of many. */
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { type DefectName, defectOf, putBack } from './dispatch/defects.ts';
import { SIMULATION_PROGRAM, type SimulationConfig, type World } from './config.ts';
import type { Outcome } from './simulation.ts';

/** A search tells how far it is after so many stories. */
const PROGRESS_EVERY = 10;
/** So does a soak: of a story that never ends nothing else tells the seed. */
const SOAK_PROGRESS_EVERY = 100;
/** The soak stops when so many seeds have failed. */
const FAILURES_MAX = 10;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** What it has opened is closed after the last one. `figures`: what there is to say of all together, by name. */
type Story = ((seed: number, print?: (line: string) => void) => Promise<Outcome>) & {
  readonly close?: () => Promise<void>;
  readonly figures?: () => ReadonlyMap<string, number>;
};

/** Writes of the tenant in one story. */
const TENANT_WRITES = 100;

/** Loaded when there is something to play: they bring much with them. */
const STORIES: Readonly<Record<World, (config: SimulationConfig) => Promise<Story>>> = {
  'job-controller': async () => (await import('./simulation.ts')).simulate,
  dispatch: async ({ putBack: lacking, bias }) => {
    const { simulateDispatch } = await import('./dispatch/dispatch-simulation.ts');
    const searched = lacking ?? bias;
    return (seed, print) => simulateDispatch(seed, print, searched && defectOf(searched).bias);
  },
  protocol: async ({ putBack: lacking, bias }) => {
    const { openReplay } = await import('../model/replay.ts');
    const searched = lacking ?? bias;
    const { play, close, counts } = openReplay(undefined, searched && defectOf(searched));
    // What is searched for is a trace that the model refuses. That a promise of the simulation is broken as well says nothing of the model.
    const story = async (seed: number, print?: (line: string) => void): Promise<Outcome> => {
      const outcome = await play(seed, print);
      return lacking === undefined ? outcome : { ...outcome, violations: outcome.refused };
    };
    return Object.assign(story, { close, figures: () => new Map(Object.entries(counts)) });
  },
  election: async () => {
    const { simulateElection } = await import('./election.ts');
    return (seed, print) => simulateElection(seed, print);
  },
  tenant: async () => {
    const { fuzzTenant } = await import('./dispatch/tenant-fuzz.ts');
    return (seed, print) => fuzzTenant(seed, TENANT_WRITES, print);
  },
  'shrinking-tenant': async () => {
    const { fuzzTenant, SHRINKING_STORY } = await import('./dispatch/tenant-fuzz.ts');
    return (seed, print) => fuzzTenant(seed, TENANT_WRITES, print, SHRINKING_STORY);
  },
  'redis-tenant': async () => {
    const { play, close } = await (await import('./redis/redis-fuzz.ts')).openRedisFuzz();
    return Object.assign(play, { close });
  },
};

async function replay(simulate: Story, world: World, seed: number, trace: boolean): Promise<number> {
  const outcome = await simulate(seed, trace ? (line) => console.log(line) : undefined);
  report(outcome, world);
  if (outcome.violations.length === 0) console.log(`seed ${seed}: every promise was kept`);
  return outcome.violations.length === 0 ? 0 : 1;
}

async function soak(simulate: Story, world: World, from: number, count: number): Promise<number> {
  const startedMs = performance.now();
  const outcomes: Outcome[] = [];
  let failures = 0;
  let stopped: keyof typeof EXIT_CODES | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (stopped = signal));
  for (let seed = from; seed < from + count && failures < FAILURES_MAX && stopped === undefined; seed++) {
    const outcome = await simulate(seed);
    report(outcome, world);
    if (outcome.violations.length > 0) failures++;
    outcomes.push(outcome);
    if (outcomes.length % SOAK_PROGRESS_EVERY === 0) console.log(`played to seed ${seed}`);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const sum = (value: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + value(outcome), 0);
  const faults = new Map<string, number>();
  for (const outcome of outcomes) for (const [kind, number] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + number);
  console.log(`seeds               ${outcomes.length} (${from} to ${from + outcomes.length - 1}), ${failures} failed`);
  console.log(`seconds             ${seconds.toFixed(1)} (${(outcomes.length / seconds).toFixed(1)} seeds a second)`);
  console.log(`steps               ${sum(({ steps }) => steps)}`);
  console.log(`simulated hours     ${(sum(({ simulatedMs }) => simulatedMs) / 3_600_000).toFixed(1)}`);
  console.log(`jobs finished       ${sum(({ jobsFinished }) => jobsFinished)}`);
  console.log(`pods ended          ${sum(({ podsEnded }) => podsEnded)}`);
  console.log(`calls of programs   ${sum(({ calls }) => calls)}`);
  console.log(`processes           ${sum(({ incarnations }) => incarnations)}`);
  for (const [name, number] of simulate.figures?.() ?? []) console.log(`${name.padEnd(19)} ${number}`);
  for (const [kind, number] of [...faults].toSorted(([a], [b]) => a.localeCompare(b))) console.log(`${kind.padEnd(19)} ${number}`);
  if (failures > 0) return 1;
  return stopped === undefined ? 0 : EXIT_CODES[stopped];
}

/** Whether the promises tell of a defect that was put back: 0 where they do, 1 where they stay silent. */
async function hunt(simulate: Story, defect: DefectName, from: number, count: number): Promise<number> {
  const startedMs = performance.now();
  for (let seed = from; seed < from + count; seed++) {
    const { violations } = await simulate(seed);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    if (violations.length > 0) {
      console.log(`${defect}: found by seed ${seed} after ${seed - from + 1} stories and ${seconds} s`);
      for (const violation of violations.slice(0, 5)) console.log(`  ${violation}`);
      return 0;
    }
    if ((seed - from + 1) % PROGRESS_EVERY === 0) console.log(`${defect}: not found by seeds ${from} to ${seed}, after ${seconds} s`);
  }
  console.log(`${defect}: not found by ${count} seeds from ${from} on`);
  return 1;
}

function report({ seed, violations }: Outcome, world: World): void {
  if (violations.length === 0) return;
  console.log(`seed ${seed} failed; replay it with: npm run simulate -- --world ${world} --seed ${seed} --trace`);
  for (const violation of violations.slice(0, 5)) console.log(`  ${violation}`);
}

await runCommandLine(SIMULATION_PROGRAM, async (config) => {
  if (config.putBack !== undefined) putBack(config.putBack);
  const simulate = await STORIES[config.world](config);
  try {
    if (config.kind === 'Soak' && config.putBack !== undefined) return await hunt(simulate, config.putBack, config.from, config.count);
    return config.kind === 'Replay'
      ? await replay(simulate, config.world, config.seed, config.trace)
      : await soak(simulate, config.world, config.from, config.count);
  } finally {
    await simulate.close?.();
  }
});
