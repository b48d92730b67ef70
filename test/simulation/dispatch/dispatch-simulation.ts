/**
 * A seeded world of one home cluster and three worker clusters: users with Jobs of every kind, an operator, real managers and workers behind
 * faulty networks, which are killed and come back. After each step the promises are held against the pods that there are. Then the faults
 * stop: every Job must end, and nothing may be left on any worker cluster.
 */
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import { createDice, type Dice } from '../dice.ts';
import { FAIR, type FaultKind, type Weather } from '../network.ts';
import type { Outcome } from '../simulation.ts';
import { startCrew } from './crew.ts';
import { createPeople } from './people.ts';
import { namespacesKept, oneCopyRuns, quotaKept } from './promises.ts';
import { createYard, type Team } from './yard.ts';
import { createYardHistory } from './yard-history.ts';

const TEAMS: readonly Team[] = [
  { namespace: 'blue', quota: { cpu: '3', pods: '8' } },
  { namespace: 'green', quota: { cpu: '2', pods: '6' } },
];
const CALM_ROUNDS_MAX = 400;
const CALM_ROUND_MS = 15_000;
const QUIET_MS = 600_000;

export async function simulateDispatch(seed: number, print?: (line: string) => void): Promise<Outcome> {
  const clock = new FakeClock();
  const startMs = clock.now();
  const trace = print === undefined ? () => undefined : (line: string) => print(`${((clock.now() - startMs) / 1000).toFixed(3)} ${line}`);
  const dice = createDice(seed);
  const yard = await createYard({ workers: ['east', 'west', 'north'], teams: TEAMS, seed, clock, dice, trace });
  const clusters = [yard.home, ...yard.workers];
  for (const { name, network } of clusters) {
    network.weather = randomWeather(dice);
    trace(`weather ${name} ${JSON.stringify(network.weather)}`);
  }
  const crew = startCrew({ yard, clock, dice, trace, managers: dice.chance(0.2) ? 2 : 1 });
  const people = createPeople(yard, dice, trace);
  const history = createYardHistory();
  const violations: string[] = [];
  const ended = new Set<string>();
  const pods = new Set<string>();
  let steps = 0;

  function look(): void {
    for (const { name, history: changes } of yard.workers) {
      for (const change of changes.next()) {
        history.observe(name, change);
        if (change.kind === 'Job') trace(`${name}: Job ${change.gone ? 'gone' : summary(change.object)}`);
      }
    }
    for (const change of yard.home.history.next()) {
      if (change.kind !== 'Job') continue;
      trace(`home: Job ${change.gone ? `${change.object.metadata.name} gone` : summary(change.object)}`);
      if (isOver(change.object)) ended.add(change.object.metadata.uid);
    }
    const held = history.held();
    for (const { pod } of held) pods.add(pod.metadata.uid);
    const namespaces = TEAMS.map(({ namespace }) => namespace);
    violations.push(...quotaKept(held, TEAMS), ...namespacesKept(held, namespaces), ...oneCopyRuns(held));
    violations.push(...crew.defects.splice(0));
  }

  async function runPods(pace: number, failures: number): Promise<void> {
    for (const { kubelet, history: changes } of yard.workers) await kubelet.run([...changes.pods.values()], pace, failures);
  }

  async function storm(): Promise<void> {
    const failures = dice.pick([0, 0.1, 0.3]);
    for (let count = dice.int(2, 5); count > 0; count--) await people.submit();
    for (let left = dice.int(30, 90); left > 0 && violations.length === 0; left--) {
      steps++;
      await clock.advance(dice.chance(0.15) ? dice.int(3000, 60_000) : dice.int(10, 2500));
      look();
      await runPods(0.4, failures);
      if (dice.chance(0.3)) await people.meddle();
      const somewhere = dice.some(clusters);
      if (somewhere !== undefined && somewhere.network.weather.crashes > 0 && dice.chance(0.04)) crew.kill();
    }
  }

  const unfinished = (): boolean => [...yard.home.history.jobs.values()].some((job) => !isOver(job));
  const leftovers = (): string[] =>
    yard.workers.flatMap(({ name, history: { jobs } }) =>
      [...jobs.values()]
        .filter(({ metadata }) => metadata.labels?.[ORIGIN_LABEL] !== undefined)
        .map(({ metadata }) => `${name}: the copy of ${metadata.namespace}/${metadata.name} is left`),
    );

  async function calm(): Promise<void> {
    trace('the storm is over');
    for (const { network } of clusters) network.weather = FAIR;
    for (let round = 0; round < CALM_ROUNDS_MAX && violations.length === 0; round++) {
      steps++;
      await clock.advance(CALM_ROUND_MS);
      look();
      if (!unfinished() && leftovers().length === 0) return;
      await people.relent();
      await runPods(1, 0.05);
    }
    if (violations.length > 0) return;
    for (const job of yard.home.history.jobs.values()) if (!isOver(job)) violations.push(`home: ${summary(job)} does not end`);
    violations.push(...leftovers());
  }

  async function rest(): Promise<void> {
    await clock.advance(120_000);
    look();
    const before = clusters.map(({ network }) => network.writes());
    await clock.advance(QUIET_MS);
    look();
    for (const [position, { name, network }] of clusters.entries()) {
      const writes = network.writes() - (before[position] ?? 0);
      if (writes > 0) violations.push(`${writes} writes to ${name} in a world in which nothing moves`);
    }
  }

  await clock.advance(3000);
  await storm();
  if (violations.length === 0) await calm();
  if (violations.length === 0) await rest();
  yard.stop();
  crew.stop();
  await clock.advance(0);
  await yard.close();
  return {
    seed,
    violations,
    steps,
    jobsFinished: ended.size,
    podsEnded: pods.size,
    calls: clusters.reduce((total, { network }) => total + network.calls(), 0),
    incarnations: crew.incarnations(),
    faults: sumOf(clusters.map(({ network }) => network.faults)),
  };
}

function sumOf(all: readonly ReadonlyMap<FaultKind, number>[]): Map<FaultKind, number> {
  const sum = new Map<FaultKind, number>();
  for (const each of all) for (const [kind, count] of each) sum.set(kind, (sum.get(kind) ?? 0) + count);
  return sum;
}

function randomWeather(dice: Dice): Weather {
  return {
    ...FAIR,
    faults: dice.pick([0, 0, 0.02, 0.1]),
    crashes: dice.pick([0, 0, 0.003]),
    latencyMs: dice.pick([0, 20, 200]),
    jobLagMs: dice.pick([0, 0, 50, 2000, 8000]),
    podLagMs: dice.pick([0, 50, 2000]),
  };
}

const summary = ({ metadata, spec, status }: Parameters<typeof isOver>[0]): string =>
  `${metadata.namespace}/${metadata.name} ${metadata.uid.slice(0, 8)} ${JSON.stringify({
    suspend: spec.suspend,
    parallelism: spec.parallelism,
    admission: metadata.annotations?.['switchyard.dev/admission'],
    epoch: metadata.annotations?.['switchyard.dev/dispatch-epoch'],
    deleting: metadata.deletionTimestamp,
    finalizers: metadata.finalizers,
    active: status?.active,
    terminating: status?.terminating,
    conditions: status?.conditions?.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`).join(' '),
  })}`;
