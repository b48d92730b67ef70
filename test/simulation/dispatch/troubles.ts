/**
 * What strikes a simulated installation beside the weather: outages, restored stores, replaced kubeconfigs, lost nodes, clocks that step,
 * dead processes. Those that last for minutes are in sequences.ts.
 */
import { RESOURCE_FLAVORS } from '../../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import type { TransportRequest } from '../../../shared/kube/transport.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Backup } from '../../support/memory-persistence.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import type { Dice } from '../dice.ts';
import type { Network, Outage } from '../network.ts';
import { type Crew, isManager, isOf, RIVAL_MANAGER, workerOf } from './crew.ts';
import { copiesOn, dropsMarks, editMarks, orphanPods, removeCopies, removeOrphans, removeReplacements, replaceCopy } from './marks.ts';
import { join, pointTo } from './membership.ts';
import { AMBUSHES, type Plan, type TroubleKind } from './plan.ts';
import { createSequences, type Sequences } from './sequences.ts';
import { type Cluster, FLAVOR, type Onlooker, type Yard } from './yard.ts';

export interface Troubles {
  /** What the plan has in store may strike now. */
  strike(): Promise<void>;
  /** Puts right what does not pass by itself, as far as that can be done now. */
  mend(): Promise<void>;
  /** Outages that are not over. */
  last(): boolean;
  /** How often each has struck. */
  readonly struck: ReadonlyMap<TroubleKind, number>;
  /** When the store of a cluster was put back the last time, by its name. */
  readonly restoredMs: ReadonlyMap<string, number>;
  /** Clusters of which an operator has said that they are lost. */
  readonly givenUp: ReadonlySet<string>;
  /** Clusters that the manager does not reach any more, ever. */
  readonly outOfReach: ReadonlySet<string>;
  /** Clusters that have left and do not come back. */
  readonly removed: ReadonlySet<string>;
  /** Clusters whose worker is gone for good, and since when. */
  readonly workerless: ReadonlyMap<string, number>;
  /** Users delete the copies on those. */
  leaveWorkerless(): Promise<void>;
  readonly sequences: Omit<Sequences, 'acts'>;
  /** Clusters on which no Job can be made any more, or none runs. */
  readonly useless: ReadonlySet<string>;
  /** The Job, by UID, that cannot be admitted as long as the others last: the present one of its name. */
  readonly refusedJob: () => string | undefined;
  /** Whether the ResourceFlavor of the queues has been deleted. */
  lacksFlavor(): Promise<boolean>;
  createFlavor(): Promise<void>;
  /** Lets it be admitted. */
  relent(): void;
}

export type TroublesDeps = {
  readonly yard: Yard;
  readonly crew: Crew;
  readonly plan: Plan;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  readonly onlooker?: Onlooker | undefined;
  /** Somebody lets go of this Job, who may not be the one who has suspended it. */
  readonly onRelease: (uid: string) => void;
};

const BACKUP_RATE = 0.1;
const BACKUPS_KEPT = 3;
/**
 * Since then every Lease has been renewed, so that a store that is put back shows an earlier renewal (docs/disaster-recovery.md: what is
 * not noticed).
 */
const BACKUP_OLD_MS = 60_000;
/** Longer than the manager waits until it moves Jobs off. */
const MANAGER_OUTAGE_MAX_MS = 300_000;
/** Who works on a cluster must be able to stop what runs there: a fence cannot do what no program can (docs/fencing.md). */
const WORKER_OUTAGE_MAX_MS = 10_000;
/** After an ambush: long enough that the fence of the worker is through, and what runs there has ended. */
const DARK_MIN_MS = 60_000;
/** Its operator hears of it, and drains it. */
const DRAIN_MAX_MS = 10_000;
const SERVER_OUTAGE_MAX_MS = 20_000;
/** After it was put back a home has looked at the copies on all clusters by then. */
const HOME_LOOKS_MS = 240_000;
const FOR_GOOD_MS = 1e9;
export function createTroubles({ yard, crew, plan, clock, dice, trace, onlooker, onRelease }: TroublesDeps): Troubles {
  const { home, workers } = yard;
  const clusters = [home, ...workers];
  const struck = new Map<TroubleKind, number>();
  const backups = new Map<string, { readonly backup: Backup; readonly atMs: number }[]>();
  const restoredMs = new Map<string, number>();
  const givenUp = new Set<string>();
  const outOfReach = new Set<string>();
  const useless = new Set<string>();
  const removed = new Set<string>();
  const workerless = new Map<string, number>();
  let refused: { readonly namespace: string | undefined; readonly name: string } | undefined;
  /** Whatever is for good strikes one cluster, so that there is another one. */
  const victim = workers.at(-1) ?? home;
  const admin = home.admin;
  let mended = false;

  const some = (list: readonly Cluster[]): Cluster => dice.some(list) ?? home;
  const anOutage = (): Outage => dice.pick(['partition', 'one-way partition', 'black hole']);
  const makesJob = (process: string, { method, path }: TransportRequest): boolean =>
    isManager(process) && method === 'POST' && /\/(jobs|crews)(\?|$)/.test(path);

  function backUp(): void {
    const cluster = some(clusters);
    backups.set(
      cluster.name,
      [...(backups.get(cluster.name) ?? []), { backup: cluster.plane.backUp(), atMs: clock.now() }].slice(-BACKUPS_KEPT),
    );
  }

  async function restore(cluster: Cluster): Promise<boolean> {
    // Whoever cannot look before others have written as much again cannot tell the one course of things from the other, by any version.
    if (cluster === home && cluster.network.disturbed()) return false;
    const found = dice.some(backups.get(cluster.name) ?? []);
    if (found === undefined) return false;
    const { backup, atMs } = found;
    const watches = dice.chance(plan.halfOpenRestores) && clock.now() - atMs >= BACKUP_OLD_MS ? 'Left' : 'Broken';
    trace(`${cluster.name}: is put back to revision ${backup.revision}; open watches are ${watches}`);
    await cluster.history.throughRestore(() => cluster.plane.restore(backup, watches));
    if (cluster !== home) await cluster.machine.restored();
    restoredMs.set(cluster.name, clock.now());
    return true;
  }

  const setState = (name: string, state: string): Promise<unknown> =>
    admin.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state } } });
  /** It may go in this moment. */
  const setStateOfLeaving = async (name: string, state: string): Promise<void> => {
    try {
      await setState(name, state);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const exists = async (name: string): Promise<boolean> =>
    (await admin.list(WORKER_CLUSTERS)).items.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined);

  const lacksFlavor = async (): Promise<boolean> => (await admin.list(RESOURCE_FLAVORS)).items.length === 0;
  const isKnown = async (name: string): Promise<boolean> =>
    (await admin.list(WORKER_CLUSTERS)).items.some(({ metadata, status }) => metadata.name === name && status?.clusterUID !== undefined);

  /**
   * The next copy that a manager makes on this cluster is made, and its answer does not come back: from then on managers do not reach the
   * cluster.
   */
  function lieInWait({ name, network }: Cluster, becomes: 'Lives' | 'Dies'): boolean {
    network.ambush({
      strikes: makesJob,
      spring: () => {
        cutOff(name, network, 'partition', dice.int(DARK_MIN_MS, MANAGER_OUTAGE_MAX_MS));
        clock.schedule(() => void drain(name), dice.int(1000, DRAIN_MAX_MS));
        return becomes;
      },
    });
    return true;
  }

  function cutOff(name: string, network: Network, outage: Outage, forMs: number): void {
    network.disturb(outage, forMs, isManager);
    onlooker?.cutOff(name);
    clock.schedule(() => onlooker?.mended(name), forMs);
  }

  async function drain(name: string): Promise<void> {
    if (mended || !(await exists(name))) return;
    trace(`${name}: is drained`);
    await setState(name, 'Draining');
  }

  const sequences = createSequences({
    yard,
    crew,
    clock,
    dice,
    trace,
    onRelease,
    victim,
    cutOff: ({ name, network }, forMs) => cutOff(name, network, 'partition', forMs),
  });

  /** False: it could not strike now. */
  const acts: Readonly<Record<TroubleKind, () => Promise<boolean> | boolean>> = {
    'manager cut off': () => {
      const { name, network } = some(dice.chance(0.8) ? workers : [home]);
      cutOff(name, network, anOutage(), dice.int(5_000, MANAGER_OUTAGE_MAX_MS));
      return true;
    },
    'worker cut off': () => {
      const cluster = some(workers);
      cluster.network.disturb(anOutage(), dice.int(1000, WORKER_OUTAGE_MAX_MS), isOf(workerOf(cluster.name)));
      return true;
    },
    'server away': () => {
      some(clusters).network.disturb(dice.pick(['partition', 'black hole']), dice.int(1000, SERVER_OUTAGE_MAX_MS), () => true);
      return true;
    },
    kill: () => {
      crew.kill();
      return true;
    },
    'clock step': () => {
      const program = dice.some(crew.programs) ?? '';
      crew.setClock(program, dice.int(-plan.clockErrorMaxMs, plan.clockErrorMaxMs));
      return plan.clockErrorMaxMs > 0;
    },
    'kubeconfig rotated': async () => {
      const cluster = some(workers);
      cluster.gate.rotate();
      trace(`${cluster.name}: has another token`);
      if (dice.chance(0.5) && (await exists(cluster.name))) await pointTo(admin, cluster.name, cluster);
      return true;
    },
    'kubeconfig repointed': async () => {
      const [name, target] = [some(workers).name, some(workers)];
      // Whoever leads elsewhere when he is met first is taken for that one, for good.
      if (!(await isKnown(name))) return false;
      trace(`the Secret of ${name} leads to ${target.name}`);
      await pointTo(admin, name, target);
      return true;
    },
    'node lost': async () => {
      const { name, machine } = some(workers);
      trace(`${name}: ${machine.node() === undefined ? 'has a node again' : 'has no node'}`);
      await (machine.node() === undefined ? machine.replace() : machine.lose());
      return true;
    },
    'worker restored': () => restore(some(workers)),
    'home restored': () => restore(home),
    'cluster made anew': async () => {
      const cluster = some(workers);
      if (!(await exists(cluster.name))) {
        await pointTo(admin, cluster.name, cluster);
        await join(admin, cluster);
        trace(`${cluster.name}: joins again`);
        return true;
      }
      trace(`${cluster.name}: its WorkerCluster is deleted`);
      await admin.delete(WORKER_CLUSTERS, { namespace: '', name: cluster.name });
      return true;
    },
    'cluster given up': async () => {
      const { name } = some(workers);
      if (!(await exists(name))) return false;
      trace(`${name}: is given up`);
      givenUp.add(name);
      await setState(name, 'Lost');
      return true;
    },
    'rights withdrawn': () => {
      if (useless.has(victim.name)) return false;
      trace(`${victim.name}: managers may make no Jobs any more`);
      useless.add(victim.name);
      victim.gate.refuse({
        strikes: makesJob,
        code: 403,
        reason: 'Forbidden',
        message: 'jobs.batch is forbidden: User "manager" cannot create resource "jobs" in API group "batch"',
      });
      return true;
    },
    'cut off for good': () => {
      if (outOfReach.has(victim.name)) return false;
      victim.network.disturb('black hole', FOR_GOOD_MS, isManager);
      outOfReach.add(victim.name);
      useless.add(victim.name);
      return true;
    },
    'cluster removed': async () => {
      if (!(await exists(victim.name))) return false;
      trace(`${victim.name}: its WorkerCluster is deleted for good`);
      removed.add(victim.name);
      useless.add(victim.name);
      await admin.delete(WORKER_CLUSTERS, { namespace: '', name: victim.name });
      return true;
    },
    'admission refused': () => {
      const job = dice.some([...home.history.jobs.values()].filter((each) => each.spec.suspend === true && !isOver(each)));
      if (refused !== undefined || job === undefined) return false;
      const { namespace, name } = job.metadata;
      refused = { namespace, name };
      trace(`home: no version of Job ${namespace}/${name} that is released can be stored`);
      home.gate.refuse({
        strikes: (_, { method, path, body = '' }) =>
          method === 'PATCH' &&
          path.split('?')[0] === `/apis/batch/v1/namespaces/${namespace}/jobs/${name}` &&
          body.includes('"suspend":false'),
        code: 500,
        reason: 'InternalError',
        message: 'etcdserver: request is too large',
      });
      return true;
    },
    'marks edited': async () => {
      const sinceMs = clock.now() - (restoredMs.get(home.name) ?? Number.NEGATIVE_INFINITY);
      if (sinceMs <= HOME_LOOKS_MS) return false;
      const cluster = some(workers);
      onlooker?.edits(cluster.name);
      const isEdited = await editMarks(cluster, dice, trace);
      onlooker?.edited(cluster.name);
      return isEdited;
    },
    'marks dropped': () => {
      const { name, gate } = some(workers);
      const methods = dice.pick([['POST'], ['POST', 'PATCH']]);
      trace(`${name}: a webhook drops our marks (${methods.join(', ')})`);
      gate.mutate(dropsMarks(methods));
      return true;
    },
    'copy orphaned': () => {
      const cluster = some(workers);
      if (copiesOn(cluster).length > 0) onlooker?.orphans(cluster.name);
      return orphanPods(cluster, dice, trace);
    },
    'copy replaced': () => replaceCopy(some(workers), dice, trace),
    'dark after a create': () => lieInWait(some(workers), 'Lives'),
    'killed after a create': () => lieInWait(some(workers), 'Dies'),
    'worker gone': () => {
      if (workerless.has(victim.name) || victim.network.disturbed()) return false;
      trace(`${victim.name}: its worker is gone for good`);
      crew.retire(workerOf(victim.name));
      workerless.set(victim.name, clock.now());
      useless.add(victim.name);
      return true;
    },
    ...sequences.acts,
    'cluster flaps': async () => {
      if (!(await sequences.acts['cluster flaps']())) return false;
      useless.add(victim.name);
      return true;
    },
    'flavor deleted': async () => {
      if (await lacksFlavor()) return false;
      trace('home: the ResourceFlavor is deleted');
      await admin.delete(RESOURCE_FLAVORS, { namespace: '', name: FLAVOR.metadata.name });
      return true;
    },
  };

  // The first Jobs come before anything strikes.
  for (const kind of AMBUSHES) if (plan.troubles.has(kind)) void acts[kind]();
  for (const program of crew.programs) crew.setClock(program, dice.int(-plan.clockErrorMaxMs, plan.clockErrorMaxMs));

  return {
    struck,
    restoredMs,
    givenUp,
    outOfReach,
    removed,
    useless,
    workerless,
    sequences,
    async leaveWorkerless() {
      for (const cluster of workers) if (workerless.has(cluster.name)) await removeCopies(cluster, trace);
    },
    refusedJob: () =>
      [...home.history.jobs.values()].find(({ metadata }) => metadata.namespace === refused?.namespace && metadata.name === refused?.name)
        ?.metadata.uid,
    relent() {
      refused = undefined;
      home.gate.refuse(undefined);
    },
    last: () => clusters.some(({ name, network }) => !outOfReach.has(name) && !sequences.flapping.has(name) && network.disturbed()),
    lacksFlavor,
    createFlavor: async () => void (await admin.create(RESOURCE_FLAVORS, FLAVOR)),
    async strike() {
      if (dice.chance(BACKUP_RATE)) backUp();
      for (const [kind, rate] of plan.troubles) {
        if (dice.chance(rate) && (await acts[kind]())) struck.set(kind, (struck.get(kind) ?? 0) + 1);
      }
    },
    async mend() {
      if (yard.rival !== undefined) crew.retire(RIVAL_MANAGER);
      const known = new Map((await admin.list(WORKER_CLUSTERS)).items.map((each) => [each.metadata.name, each]));
      for (const cluster of workers) {
        cluster.network.ambush(undefined);
        if (!plan.troubles.has('stopped after a resume')) cluster.gate.mutate(undefined);
        await removeReplacements(cluster);
        await removeOrphans(cluster);
        await cluster.machine.replace();
        const workerCluster = known.get(cluster.name);
        // One that is being deleted goes first.
        const state = outOfReach.has(cluster.name) ? 'Lost' : workerless.has(cluster.name) ? 'Draining' : 'Active';
        if (state === 'Lost') givenUp.add(cluster.name);
        if (workerCluster === undefined && !removed.has(cluster.name)) await join(admin, cluster);
        else if (workerCluster !== undefined && (workerCluster.spec.state ?? 'Active') !== state)
          await setStateOfLeaving(cluster.name, state);
        if (!mended) await pointTo(admin, cluster.name, cluster);
      }
      mended = true;
    },
  };
}
