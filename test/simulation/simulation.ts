/**
 * A seeded world: Jobs of every kind on an embedded control plane, the real worker behind a faulty network, a kubelet and a user
 * that do as the dice fall. After each step the promises are held against everything that happened. Then the faults stop, and
 * every Job must come to its right end, and everything to rest.
 */
import type { Job } from '../../shared/api/kubernetes.ts';
import { copyOfLogTails } from '../../shared/api/log-tails.ts';
import { LOG_TAILS_LABEL } from '../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES, NODES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { type Change, recordHistory } from '../support/cluster-history.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { createCountedOnce } from '../support/invariants/counted-once.ts';
import { isOver } from '../support/invariants/invariant.ts';
import { createExactCounts } from '../support/invariants/exact-counts.ts';
import { createNeverTooMany } from '../support/invariants/never-too-many.ts';
import { createRemovalBegun } from '../support/invariants/removal-begun.ts';
import { createRightEnd } from '../support/invariants/right-end.ts';
import { createStatusHistory } from '../support/invariants/status-history.ts';
import { createDice, type Dice } from './dice.ts';
import { startFleet } from './fleet.ts';
import { createKubelet, NODE } from './kubelet.ts';
import { createNetwork, FAIR, type Weather } from './network.ts';
import { createUser } from './user.ts';

export type Outcome = {
  readonly seed: number;
  /** How promises were broken; empty when all were kept. */
  readonly violations: readonly string[];
  readonly steps: number;
  /** Time that has passed in the simulated world. */
  readonly simulatedMs: number;
  readonly jobsFinished: number;
  readonly podsEnded: number;
  readonly calls: number;
  readonly incarnations: number;
  /** How often each kind of fault has struck. */
  readonly faults: ReadonlyMap<string, number>;
};

const CALM_ROUNDS_MAX = 400;
const CALM_ROUND_MS = 15_000;
/** Longer than what is expected of the cache is waited for. */
const LULL_MS = 420_000;
/** Longer than the longest wait of a worker, which is a back-off of ten minutes. */
const QUIET_MS = 900_000;
/** Leaders renew twice a second, so much of it takes long. */
const QUIET_WITH_ELECTION_MS = 600_000;

export async function simulate(seed: number, print?: (line: string) => void): Promise<Outcome> {
  const clock = new FakeClock();
  const startMs = clock.now();
  const trace = print === undefined ? () => undefined : (line: string) => print(`${((clock.now() - startMs) / 1000).toFixed(3)} ${line}`);
  const dice = createDice(seed);
  const plane = await createControlPlane({
    clock,
    random: seededRandom(seed ^ 0x5eed),
    log: silentLogger,
    controllers: ['garbage-collector', 'namespace', 'pod-gc'],
  });
  const admin = createKubeClient(plane.transport(), { userAgent: 'simulation', clock });
  await furnish(admin);
  const history = await recordHistory(admin);
  const network = createNetwork(() => plane.transport(), clock, dice, trace);
  const { finalizerRemovals, deletions, isProtected } = network.removals;
  const circumstances = {
    doubtfulCreations: (uid: string) => network.doubtfulCreations.get(uid) ?? 0,
    isStatusInDoubt: (uid: string) => network.doubtfulStatuses.has(uid),
    finalizerRemovals,
    deletions,
  };
  const removalBegun = createRemovalBegun(circumstances);
  const invariants = [
    createCountedOnce(circumstances),
    createExactCounts(circumstances),
    createNeverTooMany(circumstances),
    createStatusHistory(),
    createRightEnd(),
    removalBegun,
  ];
  const workers = dice.chance(0.15) ? 2 : 1;
  const violations: string[] = [];
  let podsEnded = 0;
  let steps = 0;

  network.weather = randomWeather(dice);
  trace(`weather ${JSON.stringify(network.weather)}, ${workers} workers`);
  const fleet = startFleet({ network, clock, dice, trace, workers });
  const kubelet = createKubelet(admin, clock, dice, trace);
  const user = createUser(admin, clock, dice, trace);

  function look(): void {
    for (const change of history.next()) {
      trace(describeChange(change));
      if (change.kind === 'Pod' && isNewEnd(change)) podsEnded++;
      for (const invariant of invariants) violations.push(...invariant.observe(change));
    }
    violations.push(...fleet.defects.splice(0), ...network.invalid.splice(0));
  }

  const jobs = (): Job[] => [...history.jobs.values()];
  const isUnfinished = (job: Job): boolean => !isOver(job) && typeof job.spec.managedBy !== 'string';

  async function storm(): Promise<void> {
    const failures = dice.pick([0.1, 0.3, 0.6]);
    for (let count = dice.int(1, 4); count > 0; count--) await user.createJob();
    for (let left = dice.int(20, 70); left > 0 && violations.length === 0; left--) {
      steps++;
      await clock.advance(dice.chance(0.15) ? dice.int(3000, 60_000) : dice.int(10, 2500));
      look();
      await kubelet.run([...history.pods.values()], 0.4, failures);
      if (dice.chance(0.3)) await user.meddle(jobs(), [...history.pods.values()]);
      if (network.weather.faults > 0 && dice.chance(0.02)) fleet.cutOff(dice.int(1000, 40_000));
      if (network.weather.crashes > 0 && dice.chance(0.02)) fleet.kill();
    }
  }

  /** Before anything moves again, workers get the time to finish what they have begun. */
  async function lull(): Promise<void> {
    network.weather = FAIR;
    trace('the storm is over');
    if (removalBegun.inVain().length === 0) return;
    await clock.advance(LULL_MS);
    look();
    for (const { pod, problem } of removalBegun.inVain()) {
      if (!isProtected(pod.metadata.namespace, pod.metadata.name)) violations.push(problem);
    }
  }

  async function calm(): Promise<void> {
    for (let round = 0; round < CALM_ROUNDS_MAX && violations.length === 0; round++) {
      steps++;
      await clock.advance(CALM_ROUND_MS);
      look();
      const waiting =
        jobs().some(isUnfinished) || [...history.pods.values()].some(({ metadata }) => metadata.deletionTimestamp !== undefined);
      if (!waiting) return;
      await user.relent(jobs().filter(isUnfinished));
      await kubelet.run([...history.pods.values()], 1, 0.05);
    }
  }

  async function rest(): Promise<void> {
    // What is on its way still may arrive: late watch events, finalizers to take off, the Events' retries.
    await clock.advance(180_000);
    look();
    const before = network.calls();
    await clock.advance(workers === 1 ? QUIET_MS : QUIET_WITH_ELECTION_MS);
    look();
    if (network.calls() > before) violations.push(`${network.calls() - before} calls in a world in which nothing moves`);
    const world = { jobs: jobs(), pods: [...history.pods.values()] };
    for (const invariant of invariants) violations.push(...invariant.atRest(world));
    const uids = new Set((await admin.list(JOBS)).items.map(({ metadata }) => metadata.uid));
    for (const { metadata } of (await admin.list(CONFIG_MAPS, { labelSelector: LOG_TAILS_LABEL })).items) {
      const uid = copyOfLogTails(metadata.name);
      if (uid === undefined || !uids.has(uid)) violations.push(`${metadata.name} is kept of a copy that is gone`);
    }
  }

  await storm();
  if (violations.length === 0) await lull();
  if (violations.length === 0) await calm();
  if (violations.length === 0) await rest();
  const jobsFinished = jobs().filter(isOver).length;
  fleet.stop();
  history.stop();
  await clock.advance(0);
  await plane.close();
  return {
    seed,
    violations,
    steps,
    simulatedMs: clock.monotonic(),
    jobsFinished,
    podsEnded,
    calls: network.calls(),
    incarnations: fleet.incarnations(),
    faults: network.faults,
  };
}

async function furnish(admin: KubeClient): Promise<void> {
  for (const name of ['team', 'doomed']) await admin.create(NAMESPACES, { metadata: { name } });
  await admin.create(NODES, { metadata: { name: NODE } });
}

const LAGS_MS = [0, 50, 2000, 8000, 30_000] as const;

/** Some runs are calm, some only slow, some stormy. In some only the pods are seen late: then what was done to them is not known. */
function randomWeather(dice: Dice): Weather {
  const arePodsLate = dice.chance(0.2);
  return {
    faults: dice.pick([0, 0.02, 0.1, 0.25]),
    crashes: dice.pick([0, 0, 0.005, 0.03]),
    latencyMs: dice.pick([0, 20, 200]),
    jobLagMs: arePodsLate ? 0 : dice.pick(LAGS_MS),
    podLagMs: arePodsLate ? 30_000 : dice.pick(LAGS_MS),
    lostPatches: arePodsLate ? 0.5 : dice.pick([0, 0, 0, 0.3]),
    protectedPods: dice.pick([0, 0, 0.3, 0.8]),
    lostStatuses: dice.pick([0, 0, 0, 0.1, 0.4]),
    slowLists: 0,
  };
}

const hasEndedIn = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';
const isNewEnd = (change: Extract<Change, { kind: 'Pod' }>): boolean =>
  hasEndedIn(change.object.status?.phase) && !hasEndedIn(change.previous?.status?.phase);

function describeChange({ kind, revision, gone, object }: Change): string {
  const { namespace, name, uid, finalizers = [], deletionTimestamp } = object.metadata;
  const state =
    kind === 'Pod' ? object.status?.phase : JSON.stringify({ spec: { ...object.spec, template: undefined }, status: object.status });
  const marks = [...(gone ? ['gone'] : []), ...(deletionTimestamp === undefined ? [] : ['deleting']), ...finalizers];
  return `  @${revision} ${kind} ${namespace}/${name} ${uid} ${marks.join(' ')} ${state}`;
}
