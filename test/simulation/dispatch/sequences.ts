/** Troubles that last for minutes, each in a story of its own: whatever else strikes would excuse what is promised of them, or hide it. */
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION, HOLD_ANNOTATION } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { TransportRequest } from '../../../shared/kube/transport.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { controllerUidOf, isOver } from '../../support/invariants/invariant.ts';
import type { Dice } from '../dice.ts';
import { type Crew, isManager, isOf, workerOf } from './crew.ts';
import { copiesOn } from './marks.ts';
import { MANAGER_NAMESPACE } from './membership.ts';
import type { SEQUENCES } from './plan.ts';
import type { Cluster, Yard } from './yard.ts';

export type SequenceKind = (typeof SEQUENCES)[number];

export interface Sequences {
  /** False: it could not strike now. */
  readonly acts: Readonly<Record<SequenceKind, () => Promise<boolean> | boolean>>;
  /** This pod does not end by itself now: what is searched for shows only while pods run for minutes, or stop as slowly as they may. */
  runsOn(cluster: string, pod: Pod): boolean;
  /** Clusters that come and go, and never stay for as long as a pod takes. */
  readonly flapping: ReadonlySet<string>;
  /** They stay. */
  steady(): void;
  /** Of clusters that serve one namespace less than before: which one. */
  readonly narrowed: ReadonlyMap<string, string>;
  /** They serve all again. */
  widen(): Promise<void>;
}

export type SequencesDeps = {
  readonly yard: Yard;
  readonly crew: Crew;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  /** Managers do not reach this cluster for so long. */
  readonly cutOff: (cluster: Cluster, forMs: number) => void;
  /** Somebody lets go of this Job, who may not be the one who has suspended it. */
  readonly onRelease: (uid: string) => void;
  /** The cluster that suffers for the whole story, so that there is another one. */
  readonly victim: Cluster;
};

/** A cluster that is out of reach for so long is given up (`crew.ts`). */
const [LOST_MIN_MS, LOST_MAX_MS] = [200_000, 300_000];
/** Between these the WorkerCluster says that it is lost, and pods that the fence stops there are still in their grace period. */
const LOST_SAID_MS = 21_000;
const FENCE_MS = 28_000;
const CLOCK_AHEAD_MS = 1_200_000;
const HELD_MAX_MS = 20_000;
const STOPS_MAX = 12;
/** The first look at a copy that was resumed takes so long, as where it makes hundreds of pods. */
const [FIRST_LOOK_MIN_MS, FIRST_LOOK_MAX_MS] = [2_000, 8_000];
/** For longer than a fence, and for less than a pod takes. */
const [CLOSED_MIN_MS, CLOSED_MAX_MS, OPEN_MIN_MS, OPEN_MAX_MS] = [35_000, 50_000, 5_000, 20_000];
const POD_TAKES_MS = 90_000;
/** The time-out of a fence of 60 s, and what an overloaded API server takes for an answer. */
const [FENCE_AFTER_LATE_MS, ANSWER_MS, OVERLOADED_MS] = [60_000, 12_000, 240_000];
const MANAGER_ANSWERS_MS = 60_000;

/** The Job whose copy is resumed by this request. */
function resumedBy({ method, path, body = '' }: TransportRequest): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^\/apis\/batch\/v1\/namespaces\/([^/]+)\/jobs\/([^/?]+)(\?|$)/.exec(path) ?? [];
  const resumes = method === 'PATCH' && body.includes('"suspend":false');
  return resumes && namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
}

const isUnfenced = ({ metadata }: Job): boolean => metadata.annotations?.[FENCING_ANNOTATION] === 'off';

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

export function createSequences({ yard, crew, clock, dice, trace, cutOff, onRelease, victim }: SequencesDeps): Sequences {
  const { home, workers } = yard;
  const { admin } = home;
  const runOnUntilMs = new Map<string, number>();
  const flapping = new Set<string>();
  const narrowed = new Map<string, string>();
  let overloaded = false;
  let stopsLeft = STOPS_MAX;

  const serve = (name: string, servedNamespaces: readonly string[] | null): Promise<unknown> =>
    admin.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { servedNamespaces } } });

  /** For as long as it takes to give the cluster up, and a while longer. */
  function cutOffForLong(): Cluster | undefined {
    if (workers.some(({ network }) => network.disturbed())) return undefined;
    const cluster = dice.some(workers.filter(runsFenced));
    if (cluster === undefined) return undefined;
    const { name, kubelet } = cluster;
    const forMs = dice.int(LOST_MIN_MS, LOST_MAX_MS);
    cutOff(cluster, forMs);
    runOnUntilMs.set(name, clock.now() + forMs);
    kubelet.successes = 0;
    return cluster;
  }

  /** A pod runs there whose copy asks for a fence. */
  function runsFenced({ history }: Cluster): boolean {
    const fenced = new Set(
      [...history.jobs.values()].filter((job) => !isOver(job) && !isUnfenced(job)).map(({ metadata }) => metadata.uid),
    );
    return [...history.pods.values()].some(
      (pod) => pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined && fenced.has(controllerUidOf(pod) ?? ''),
    );
  }

  /** The way to it is closed for longer than its fence, and opened for a moment, again and again. */
  function flap(cluster: Cluster): void {
    if (!flapping.has(cluster.name)) return;
    const forMs = dice.int(CLOSED_MIN_MS, CLOSED_MAX_MS);
    cutOff(cluster, forMs);
    clock.schedule(() => flap(cluster), forMs + dice.int(OPEN_MIN_MS, OPEN_MAX_MS));
  }

  /** A copy is resumed, and before its worker has said so its Job is held. */
  function stopResumed({ name, gate, network }: Cluster): void {
    gate.mutate((request) => {
      const resumed = resumedBy(request);
      if (resumed === undefined || stopsLeft-- <= 0) return request;
      const status = `/namespaces/${resumed.namespace}/jobs/${resumed.name}/status`;
      const isLate = isOf(workerOf(name));
      network.overload(
        {
          strikes: (process, { method, path }) => isLate(process) && method !== 'GET' && path.includes(status),
          ms: dice.int(FIRST_LOOK_MIN_MS, FIRST_LOOK_MAX_MS),
        },
        FIRST_LOOK_MAX_MS,
      );
      clock.schedule(() => void stopJob(resumed), dice.int(1, 1000));
      return request;
    });
  }

  /** Whoever holds it lets go of it again. */
  async function stopJob({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<void> {
    const isOfName = ({ metadata }: Job): boolean => metadata.namespace === namespace && metadata.name === name;
    const uid = [...home.history.jobs.values()].find(isOfName)?.metadata.uid;
    if (uid === undefined) return;
    trace(`home: ${namespace}/${name} is held for a moment`);
    const hold = (value: string | null): Promise<unknown> =>
      admin.patch(JOBS, { namespace, name }, { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: value } } } });
    try {
      await hold('true');
      const letGo = (): void => {
        onRelease(uid);
        void hold(null).catch(unlessGone);
      };
      clock.schedule(letGo, dice.int(1000, HELD_MAX_MS));
    } catch (error) {
      unlessGone(error);
    }
  }

  const acts: Sequences['acts'] = {
    'fence raised while cut off': () => {
      const name = cutOffForLong()?.name;
      if (name === undefined) return false;
      const fenceAfterMs = dice.pick([0, 600_000]);
      trace(`${name}: its worker is started again with another fence, ${fenceAfterMs} ms`);
      crew.setFence(workerOf(name), fenceAfterMs);
      crew.killNamed(workerOf(name));
      return true;
    },
    'clock ahead while cut off': () => {
      if (cutOffForLong() === undefined) return false;
      clock.schedule(
        () => {
          for (const program of crew.programs.filter(isManager)) {
            crew.setClock(program, CLOCK_AHEAD_MS);
            crew.killNamed(program);
          }
        },
        dice.int(LOST_SAID_MS, FENCE_MS),
      );
      return true;
    },
    'stopped after a resume': async () => {
      for (const cluster of workers) stopResumed(cluster);
      const job = dice.some([...home.history.jobs.values()].filter((each) => each.spec.suspend === false && !isOver(each)));
      if (job === undefined) return false;
      await stopJob({ namespace: job.metadata.namespace, name: job.metadata.name });
      return true;
    },
    'cluster flaps': () => {
      if (flapping.size > 0 || !runsFenced(victim)) return false;
      trace(`${victim.name}: comes and goes`);
      flapping.add(victim.name);
      victim.kubelet.successes = 0;
      flap(victim);
      return true;
    },
    'answers late': () => {
      const cluster = dice.some(workers.filter(runsFenced));
      if (overloaded || cluster === undefined) return false;
      overloaded = true;
      const { name, network } = cluster;
      trace(`${name}: its worker is started again with a fence of ${FENCE_AFTER_LATE_MS} ms`);
      crew.setFence(workerOf(name), FENCE_AFTER_LATE_MS);
      crew.killNamed(workerOf(name));
      runOnUntilMs.set(name, clock.now() + MANAGER_ANSWERS_MS + OVERLOADED_MS);
      clock.schedule(() => {
        trace(`${name}: takes ${ANSWER_MS} ms for what its worker asks`);
        network.overload({ strikes: isOf(workerOf(name)), ms: ANSWER_MS }, OVERLOADED_MS);
      }, MANAGER_ANSWERS_MS);
      return true;
    },
    'namespace not served': async () => {
      const namespace = dice.some(copiesOn(victim))?.metadata.namespace;
      if (narrowed.size > 0 || namespace === undefined) return false;
      trace(`${victim.name}: serves namespace ${namespace} no longer`);
      narrowed.set(victim.name, namespace);
      await serve(victim.name, [...yard.teams.map((team) => team.namespace).filter((each) => each !== namespace), MANAGER_NAMESPACE]);
      return true;
    },
  };

  return {
    acts,
    flapping,
    narrowed,
    runsOn: (cluster, { metadata: { creationTimestamp } }) =>
      clock.now() < (runOnUntilMs.get(cluster) ?? 0) ||
      (flapping.has(cluster) && clock.now() - Date.parse(creationTimestamp) < POD_TAKES_MS),
    steady() {
      flapping.clear();
    },
    async widen() {
      for (const name of narrowed.keys()) await serve(name, null);
      narrowed.clear();
    },
  };
}
