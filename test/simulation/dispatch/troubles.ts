/** What strikes a simulated installation beside the weather: outages, restored stores, replaced kubeconfigs, lost nodes, clocks that step, dead processes. */
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Backup } from '../../support/memory-persistence.ts';
import type { Dice } from '../dice.ts';
import type { Outage } from '../network.ts';
import { type Crew, RIVAL_MANAGER } from './crew.ts';
import { join, pointTo } from './membership.ts';
import type { Plan, TroubleKind } from './plan.ts';
import type { Cluster, Yard } from './yard.ts';

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
}

export type TroublesDeps = {
  readonly yard: Yard;
  readonly crew: Crew;
  readonly plan: Plan;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
};

const BACKUP_RATE = 0.1;
const BACKUPS_KEPT = 3;
/** Since then every Lease has been renewed, so that a store that is put back shows an earlier renewal (docs/disaster-recovery.md: what is not noticed). */
const BACKUP_OLD_MS = 60_000;
/** Longer than the manager waits until it moves Jobs off. */
const MANAGER_OUTAGE_MAX_MS = 300_000;
/** Who works on a cluster must be able to stop what runs there: a fence cannot do what no program can (docs/fencing.md). */
const WORKER_OUTAGE_MAX_MS = 10_000;
const SERVER_OUTAGE_MAX_MS = 20_000;

export function createTroubles({ yard, crew, plan, clock, dice, trace }: TroublesDeps): Troubles {
  const { home, workers } = yard;
  const clusters = [home, ...workers];
  const struck = new Map<TroubleKind, number>();
  const backups = new Map<string, { readonly backup: Backup; readonly atMs: number }[]>();
  const restoredMs = new Map<string, number>();
  const givenUp = new Set<string>();
  const admin = home.admin;
  let mended = false;

  const some = (list: readonly Cluster[]): Cluster => dice.some(list) ?? home;
  const anOutage = (): Outage => dice.pick(['partition', 'one-way partition', 'black hole']);
  const isOf =
    (program: string) =>
    (process: string): boolean =>
      process.startsWith(`${program}.`);
  const isManager = (process: string): boolean => process.startsWith('manager');

  function backUp(): void {
    const cluster = some(clusters);
    backups.set(
      cluster.name,
      [...(backups.get(cluster.name) ?? []), { backup: cluster.plane.backUp(), atMs: clock.now() }].slice(-BACKUPS_KEPT),
    );
  }

  async function restore(cluster: Cluster): Promise<boolean> {
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
  const exists = async (name: string): Promise<boolean> =>
    (await admin.list(WORKER_CLUSTERS)).items.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined);

  const isKnown = async (name: string): Promise<boolean> =>
    (await admin.list(WORKER_CLUSTERS)).items.some(({ metadata, status }) => metadata.name === name && status?.clusterUID !== undefined);

  /** False: it could not strike now. */
  const acts: Readonly<Record<TroubleKind, () => Promise<boolean> | boolean>> = {
    'manager cut off': () => {
      some(dice.chance(0.8) ? workers : [home]).network.disturb(anOutage(), dice.int(5_000, MANAGER_OUTAGE_MAX_MS), isManager);
      return true;
    },
    'worker cut off': () => {
      const cluster = some(workers);
      cluster.network.disturb(anOutage(), dice.int(1000, WORKER_OUTAGE_MAX_MS), isOf(`worker-${cluster.name}`));
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
  };

  for (const program of crew.programs) crew.setClock(program, dice.int(-plan.clockErrorMaxMs, plan.clockErrorMaxMs));

  return {
    struck,
    restoredMs,
    givenUp,
    last: () => clusters.some(({ network }) => network.disturbed()),
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
        await cluster.machine.replace();
        const workerCluster = known.get(cluster.name);
        // One that is being deleted goes first.
        if (workerCluster === undefined) await join(admin, cluster);
        else if ((workerCluster.spec.state ?? 'Active') !== 'Active') await setState(cluster.name, 'Active');
        if (!mended) await pointTo(admin, cluster.name, cluster);
      }
      mended = true;
    },
  };
}
