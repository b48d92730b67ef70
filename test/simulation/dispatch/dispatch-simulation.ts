/**
 * A seeded world of one home cluster and two or three worker clusters: users with Jobs of every kind, an operator, real managers and
 * workers behind faulty networks, which are killed and come back, stores that are put back, clocks that step. After each step the promises
 * are held against the pods that there are. Then the faults stop: every Job must end, and nothing may be left on any worker cluster.
 */
import { type AdmissionRecord, writtenRecordOf } from '../../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import { isAtRest } from '../../../manager/work-kind/job/copy/copy-rest.ts';
import type { DeepReadonly, Job, Pod } from '../../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES } from '../../../shared/api/resources.ts';
import { ADMISSION_ANNOTATION, ORIGIN_LABEL, PRIORITY_ANNOTATION } from '../../../shared/api/names.ts';
import { hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hasEnded, isOver } from '../../support/invariants/invariant.ts';
import { aCrewKind, CREWS } from '../../unit/manager/work-kind/described/described.ts';
import { createDice, type Dice } from '../dice.ts';
import { FAIR, type Weather } from '../network.ts';
import type { Outcome } from '../simulation.ts';
import { startCrew } from './crew.ts';
import { createCarried } from './carried.ts';
import { createDescribedWork } from './described-work.ts';
import { originUidOf } from './marks.ts';
import { createPeople } from './people.ts';
import { type Bias, drawPlan, drawSequence, type Preemption, sharedQueues, sharingOf, sizeOf } from './plan.ts';
import {
  everyJobEnds,
  failsForCause,
  fencedForCause,
  heldStay,
  type Excuses,
  namespacesKept,
  narrowingTold,
  nobodyByEquals,
  nobodyWrites,
  nothingLeft,
  oneCopyRuns,
  poolKept,
  quotaKept,
  type Remains,
  statusesAccepted,
  suspendedRest,
  workerMissed,
} from './promises.ts';
import { createTroubles } from './troubles.ts';
import { createYard, poolOf, type Onlooker, type Team } from './yard.ts';
import { createYardHistory, type HeldPod } from './yard-history.ts';

const TEAMS: readonly Team[] = [
  { namespace: 'blue', quota: { cpu: '3', pods: '8' } },
  { namespace: 'green', quota: { cpu: '2', pods: '6' } },
];
/** Of the other home, where there are two. */
const RIVAL_TEAMS: readonly Team[] = [{ namespace: 'red', quota: { cpu: '2', pods: '6' } }];
/** Room for the largest Job, and for little beside it. */
const crowded = ({ shared }: Preemption): readonly Team[] =>
  TEAMS.map(({ namespace }) => ({ namespace, quota: { cpu: '2', pods: '5' }, cohort: shared ? 'teams' : undefined }));
const WORKERS = ['east', 'west', 'north'] as const;
const CALM_ROUNDS_MAX = 400;
const CALM_ROUND_MS = 15_000;
const CALM_TURNS = 3;
/** Longer than any cluster is remembered for what it could not do: by then nobody writes any more. */
const SETTLE_MAX_MS = 720_000;
/** No longer passes without a look at what runs: kubelets are never late by more. */
const SLICE_MS = 5_000;
/** A worker that is gone is missed within a minute, and what its Jobs say of it comes a minute after that. */
const WORKER_MISSED_MS = 120_000;
/** In this time whatever has been suspended comes to rest, also on a cluster whose store was put back a moment ago. */
const STAND_STILL_MS = 300_000;
/** So long after its store was put back a cluster may run what it has run before: its worker has to notice, and to stop it. */
const RESTORE_EXCUSE_MS = 240_000;

/** `wanted`: what is always played, beside what the seed has in store. `onlooker` is shown what happens in it. */
export async function simulateDispatch(seed: number, print?: (line: string) => void, wanted?: Bias, onlooker?: Onlooker): Promise<Outcome> {
  const bias = wanted ?? drawSequence(seed);
  const clock = new FakeClock();
  const startMs = clock.now();
  const trace = print === undefined ? () => undefined : (line: string) => print(`${((clock.now() - startMs) / 1000).toFixed(3)} ${line}`);
  const dice = createDice(seed);
  const size = sizeOf(seed, bias);
  const names = WORKERS.slice(0, dice.int(size.workersMin, size.workersMax));
  const plan = drawPlan(seed, dice, names, bias);
  trace(
    `plan ${JSON.stringify({ ...plan, carries: plan.carries !== undefined, described: plan.described !== undefined, troubles: [...plan.troubles] })}`,
  );
  const { bare, preemption, rival: hasRival } = plan;
  const ownTeams = preemption === undefined ? TEAMS : crowded(preemption);
  const sharing = sharingOf(seed, bias);
  if (sharing !== 'Apart') trace(`sharing ${sharing}`);
  const queues = preemption === undefined ? plan.queues : { ...plan.queues, preemption: preemption.policies };
  const yard = await createYard({
    workers: names,
    teams: ownTeams,
    bare,
    queues: { ...queues, ...sharedQueues(sharing) },
    rivalTeams: hasRival ? RIVAL_TEAMS : undefined,
    onlooker,
    seed,
    clock,
    dice,
    trace,
  });
  const { home, rival, workers } = yard;
  const homes = rival === undefined ? [home] : [home, rival];
  const clusters = [...homes, ...workers];
  for (const { name, network } of clusters) {
    const weather = randomWeather(dice);
    network.weather = bias?.fair === true ? FAIR : weather;
    trace(`weather ${name} ${JSON.stringify(network.weather)}`);
  }
  const described = plan.described && (await createDescribedWork(yard, plan.described, clock, trace));
  const crew = startCrew({
    yard,
    clock,
    dice,
    trace,
    managers: plan.managers,
    sharesFairly: sharing !== 'Apart',
    carries: plan.carries !== undefined,
    kinds: described === undefined ? [] : [aCrewKind()],
    onlooker,
  });
  const onRelease = (uid: string): void => void people.held.delete(uid);
  const troubles = createTroubles({ yard, crew, plan, clock, dice, trace, onlooker, onRelease });
  const carried = plan.carries && (await createCarried(yard, bare, plan.carries, trace));
  const people = createPeople(yard, dice, trace, bias?.archived, () => preemption?.dice.pick([-2, -1, 0]), carried);
  const priorities = new Map<string, Set<number>>();
  const rivals = rival === undefined ? undefined : createPeople({ home: rival, teams: RIVAL_TEAMS, workers }, dice, trace);
  const history = createYardHistory(described?.copyOf);
  const violations: string[] = [];
  const ended = new Set<string>();
  const pods = new Set<string>();
  const teams = [...ownTeams, ...RIVAL_TEAMS];
  const namespaces = teams.map(({ namespace }) => namespace);
  let steps = 0;
  let isCalm = false;

  function excuses(): Excuses {
    const since = clock.now() - RESTORE_EXCUSE_MS;
    const restored = [...troubles.restoredMs].filter(([, atMs]) => atMs > since).map(([name]) => name);
    return { restored: new Set(restored), givenUp: troubles.givenUp };
  }

  /**
   * A store that is put back gives versions a second time: what is written on one of the first may pass for a write on the second, and is
   * judged by its content alone.
   */
  const isByReusedVersion = (cluster: string, call: string): boolean => excuses().restored.has(cluster) && / 422: /.test(call);

  /** A store that is put back tells of pods again that have failed since, and of failures of which nothing else is known. */
  const restores = (): number => troubles.restoredMs.size;

  function precedenceKept(job: Job): string[] {
    const key = `${job.metadata.namespace}/${job.metadata.name}`;
    const priority = Number(job.metadata.annotations?.[PRIORITY_ANNOTATION] ?? 0);
    for (const name of described?.names ?? []) priorities.set(name, new Set([0]));
    for (const name of [key, job.metadata.uid]) priorities.set(name, (priorities.get(name) ?? new Set()).add(priority));
    return preemption === undefined ? [] : nobodyByEquals(job, { preemption: preemption.policies, priorities });
  }

  function look(): void {
    for (const { name, history: changes } of workers) {
      for (const change of changes.next()) {
        history.observe(name, change);
        if (plan.troubles.has('answers late') && change.kind === 'Job') violations.push(...fencedForCause(name, change.object));
        if (change.kind === 'Job') trace(`${name}: Job ${change.gone ? `${change.object.metadata.name} gone` : summary(change.object)}`);
      }
    }
    for (const { name, history: changes } of homes) {
      for (const change of changes.next()) {
        if (change.kind !== 'Job') continue;
        trace(`${name}: Job ${change.gone ? `${change.object.metadata.name} gone` : summary(change.object)}`);
        if (!change.gone && !troubles.restoredMs.has(home.name)) violations.push(...heldStay(change.object, people.held));
        if (isOver(change.object)) ended.add(change.object.metadata.uid);
        if (!change.gone && restores() === 0)
          violations.push(...failsForCause(change.object, history.withFailures, queues.onCannotStart === 'Fail'));
        if (name === home.name) violations.push(...precedenceKept(change.object));
      }
    }
    const held = running();
    for (const { pod } of held) pods.add(pod.metadata.uid);
    violations.push(
      ...(sharing === 'Apart'
        ? quotaKept(held, teams, excuses())
        : [TEAMS, RIVAL_TEAMS].flatMap((each) =>
            poolKept(
              held,
              each.map(({ namespace }) => namespace),
              poolOf(each),
              excuses(),
            ),
          )),
      ...namespacesKept(held, namespaces),
      ...oneCopyRuns(held, excuses()),
      ...clusters.flatMap(({ name, network }) => {
        const refused = statusesAccepted(network.refusedStatuses.splice(0));
        return excuses().restored.has(name) ? [] : refused;
      }),
      ...clusters.flatMap(({ name, network }) => network.invalid.splice(0).filter((each) => !isByReusedVersion(name, each))),
      ...crew.defects.splice(0),
    );
  }

  /** What a node had that is gone runs no more. */
  function running(): HeldPod[] {
    const nodes = new Map(workers.map(({ name, machine }) => [name, machine.node()]));
    return history.held().filter(({ cluster, pod: { spec } }) => !spec.nodeName || spec.nodeName === nodes.get(cluster));
  }

  /** Lets time pass. Whoever is in his grace period dies when it is over. */
  async function pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0 && violations.length === 0; leftMs -= SLICE_MS) {
      await clock.advance(Math.min(leftMs, SLICE_MS));
      look();
      if (described !== undefined) {
        await described.run(isCalm ? 1 : 0.5);
        const found = await described.look(queues.onCannotStart === 'Fail');
        if (restores() === 0) violations.push(...found);
      }
      if (carried !== undefined) violations.push(...(await carried.look(excuses().restored, new Set(troubles.restoredMs.keys()))));
      for (const { kubelet, history: changes } of workers) await kubelet.killOverdue(changes.pods.values());
    }
  }

  async function runPods(pace: number, failures: number): Promise<void> {
    for (const { name, kubelet, history: changes } of workers) {
      const all = [...changes.pods.values()];
      const moving = all.filter((pod) => !troubles.sequences.runsOn(name, pod) || (pod.status?.phase !== 'Running' && !isGoing(pod)));
      await kubelet.run(moving, pace, failures);
    }
  }

  async function storm(): Promise<void> {
    const failures = dice.pick([0, 0.1, 0.3]);
    for (let count = dice.int(2, 5); count > 0; count--) await people.submit();
    await described?.submit();
    for (let left = dice.int(size.stepsMin, size.stepsMax); left > 0 && violations.length === 0; left--) {
      steps++;
      await pass(dice.chance(0.15) ? dice.int(3000, 60_000) : dice.int(10, 2500));
      await runPods(0.4, failures);
      if (dice.chance(0.3)) await people.meddle();
      if (plan.described?.chance(0.3) === true) await described?.meddle();
      if (bias?.described === true && plan.described?.chance(0.3) === true) await described?.deleteCopy('Orphan');
      if (plan.carries?.chance(0.4) === true) await carried?.meddle();
      if (bias?.archived === true && dice.chance(0.5)) await people.removeRunning();
      if (preemption?.dice.chance(0.6) === true) await people.submit();
      if (rivals !== undefined && dice.chance(0.1)) await rivals.meddle();
      await troubles.strike();
    }
  }

  /**
   * Without the copies of one Job, which may rest, and, on a cluster that has left, those that rest, because it may have been out of reach
   * when it left, and those of the other home, which may have had it after that and is no more.
   */
  async function remains(refused: string | undefined): Promise<Remains[]> {
    return Promise.all(
      workers
        .filter(({ name }) => !troubles.outOfReach.has(name))
        .map(async (cluster) => {
          const { name, admin, history: there } = cluster;
          const { jobs, pods: podsThere } = there;
          const made = (await admin.list(NAMESPACES, { labelSelector: ORIGIN_LABEL })).items;
          const nameOf = ({ metadata }: { metadata: { namespace?: string; name: string } }): string =>
            `${metadata.namespace}/${metadata.name}`;
          const rests = ({ spec, status }: DeepReadonly<Job>): boolean =>
            spec.suspend === true || hasTrueCondition(status?.conditions, 'Fenced') || isFinished(status);
          const isOfRival = ({ metadata: { namespace } }: DeepReadonly<Job | Pod>): boolean =>
            troubles.removed.has(name) && RIVAL_TEAMS.some((team) => team.namespace === namespace);
          const mayRest = (job: DeepReadonly<Job>): boolean =>
            originUidOf(job) === refused || (rests(job) && troubles.removed.has(name)) || isOfRival(job);
          const mayStay = (pod: DeepReadonly<Pod>): boolean => troubles.workerless.has(name) && hasEnded(pod);
          const resting = new Set([...jobs.values()].filter(mayRest).map(({ metadata }) => metadata.uid));
          const mayRestThere = (uid: string): boolean => troubles.removed.has(name) && described?.copyOf(uid) !== undefined;
          // Pods that have ended stay with their copy.
          const isOver = (pod: DeepReadonly<Pod>): boolean =>
            isOfRival(pod) ||
            ((pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') &&
              pod.metadata.ownerReferences?.some(({ uid }) => resting.has(uid) || mayRestThere(uid)) === true);
          return {
            cluster: name,
            copies: [
              ...[...jobs.values()].filter((job) => originUidOf(job) !== undefined && !mayRest(job)).map(nameOf),
              ...((await described?.copiesOn(cluster, troubles.removed.has(name))) ?? []),
            ],
            // Nobody takes off the finalizer by which the worker would count them.
            pods: [...podsThere.values()].filter((pod) => !isOver(pod) && !mayStay(pod)).map(nameOf),
            madeNamespaces: made.map(({ metadata }) => metadata.name),
            usedNamespaces: new Set([JOBS, CREWS].flatMap(({ group, plural }) => [...(cluster.storedIn.get(`${group}/${plural}`) ?? [])])),
            carried: (await carried?.left(cluster)) ?? [],
          };
        }),
    );
  }

  /**
   * Without the flavor of their admission no Job may go on. No pod ends of itself here: what there is of suspended Jobs in the end would
   * run for ever.
   */
  async function standStill(): Promise<void> {
    for (let waitedMs = 0; waitedMs < STAND_STILL_MS || troubles.last(); waitedMs += CALM_ROUND_MS) {
      await troubles.mend();
      await pass(CALM_ROUND_MS);
      if (violations.length > 0) return;
    }
    const isExcused = ({ cluster }: HeldPod): boolean =>
      [troubles.outOfReach, troubles.removed, troubles.givenUp, troubles.workerless].some((each) => each.has(cluster));
    violations.push(
      ...suspendedRest(
        running().filter((pod) => !isExcused(pod)),
        home.history.jobs.values(),
        await described?.suspended(),
      ),
    );
    await troubles.createFlavor();
  }

  /** Admissions to clusters without a worker that were there when it was first missed, by the UID of their Job. */
  let admitted: ReadonlyMap<string, string> | undefined;

  async function missedWorkers(): Promise<string[]> {
    const records = new Map([...home.history.jobs.values()].map(({ metadata }) => [metadata.uid, recordTextOf(metadata)]));
    admitted ??= records;
    const known = (await home.admin.list(WORKER_CLUSTERS)).items;
    return workers
      .filter(({ name }) => troubles.workerless.has(name))
      .flatMap(({ name, history: { jobs: copies } }) => {
        const begun = new Map(
          [...copies.values()].flatMap((copy) => (isOver(copy) || isAtRest(copy) ? [] : [[originUidOf(copy), copy.status?.startTime]])),
        );
        const jobs = [...home.history.jobs.values()].filter(
          (job) => !isOver(job) && writtenClusterOf(job) === name && job.metadata.deletionTimestamp === undefined,
        );
        return workerMissed({
          cluster: name,
          isReady: known.some(({ metadata, status }) => metadata.name === name && hasTrueCondition(status?.conditions, 'Ready')),
          jobs: jobs.map((job) => ({
            job,
            hasBegun: begun.get(job.metadata.uid) !== undefined,
            isNew: records.get(job.metadata.uid) !== admitted?.get(job.metadata.uid),
          })),
        });
      });
  }

  async function calm(): Promise<void> {
    trace('the storm is over');
    isCalm = true;
    for (const { network } of clusters) network.weather = FAIR;
    if (await troubles.lacksFlavor()) await standStill();
    people.held.clear();
    let problems: string[] = [];
    let troubledMs = clock.now();
    for (let round = 0; round < CALM_ROUNDS_MAX && violations.length === 0; round++) {
      steps++;
      await troubles.mend();
      if (plan.troubles.has('copy orphaned')) await carried?.removeOrphans();
      for (let turn = 0; turn < CALM_TURNS && violations.length === 0; turn++) {
        await pass(CALM_ROUND_MS / CALM_TURNS);
        await runPods(1, 0.05);
      }
      if (troubles.last()) troubledMs = clock.now();
      if (clock.now() - troubledMs >= WORKER_MISSED_MS) {
        violations.push(...(await missedWorkers()));
        await troubles.leaveWorkerless();
        violations.push(...narrowingTold(troubles.sequences.narrowed, home.history.jobs.values()));
        await troubles.sequences.widen();
      }
      const refused = troubles.refusedJob();
      const others = [...home.history.jobs.values()].filter(({ metadata }) => metadata.uid !== refused);
      const unended = [...everyJobEnds(others), ...((await described?.unended()) ?? [])];
      if (unended.length === 0) troubles.sequences.steady();
      problems = [...unended, ...nothingLeft(await remains(refused))];
      if (problems.length === 0 && !troubles.last()) {
        if (refused === undefined) return;
        troubles.relent();
      }
      await people.relent(troubles.useless, troubles.workerless);
      await described?.relent();
    }
    violations.push(...problems);
  }

  /** Ends as soon as nobody has written for long enough. */
  async function rest(): Promise<void> {
    const counts = (): Map<string, number> => new Map(clusters.map(({ name, network }) => [name, network.writes()]));
    let written = new Map<string, number>();
    for (let [passedMs, quietMs] = [0, 0]; quietMs < size.quietMs && violations.length === 0; passedMs += CALM_ROUND_MS) {
      if (passedMs >= SETTLE_MAX_MS) return void violations.push(...nobodyWrites(written));
      const before = counts();
      await pass(CALM_ROUND_MS);
      const last = new Map([...counts()].map(([name, count]) => [name, count - (before.get(name) ?? 0)]));
      if (nobodyWrites(last).length === 0) quietMs += CALM_ROUND_MS;
      else [written, quietMs] = [last, 0];
    }
  }

  await pass(3000);
  await storm();
  if (violations.length === 0) await calm();
  if (violations.length === 0) await rest();
  const simulatedMs = clock.monotonic();
  yard.stop();
  crew.stop();
  await clock.advance(0);
  await yard.close();
  return {
    seed,
    violations,
    steps,
    simulatedMs,
    jobsFinished: ended.size,
    podsEnded: pods.size,
    calls: clusters.reduce((total, { network }) => total + network.calls(), 0),
    incarnations: crew.incarnations(),
    faults: sumOf([...clusters.map(({ network }) => network.faults), troubles.struck]),
  };
}

/** Which placement it is; a record is written anew when it is preempted, too. */
const recordTextOf = ({ annotations }: Job['metadata']): string => {
  const { cluster, epoch, since } = JSON.parse(annotations?.[ADMISSION_ANNOTATION] ?? '{}') as Partial<AdmissionRecord>;
  return `${cluster} ${epoch} ${since}`;
};

function writtenClusterOf(job: Job): string | undefined {
  const written = writtenRecordOf(job);
  return written.kind === 'Record' ? written.record.cluster : undefined;
}

const isGoing = ({ metadata }: DeepReadonly<Pod>): boolean => metadata.deletionTimestamp !== undefined;

function sumOf(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
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
    slowLists: dice.pick([0, 0, 0, 0.3]),
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
