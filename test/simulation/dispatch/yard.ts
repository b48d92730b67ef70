/** The clusters of a simulated installation: one for the manager, some for workers, each with a history and a network of its own. */
import { CLUSTER_QUEUES, type ClusterQueueSpec } from '../../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../../manager/api/resource-flavor.ts';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { NAMESPACES, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import type { PersistenceRecord } from '../../../shared/controlplane/storage/persistence.ts';
import { type ClusterHistory, recordHistory } from '../../support/cluster-history.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { createRestorablePlane, type RestorablePlane } from '../../support/restorable-plane.ts';
import { STORED_KINDS } from '../../support/stored-kinds.ts';
import type { Dice } from '../dice.ts';
import { createKubelet, type Kubelet } from '../kubelet.ts';
import { createNetwork, type Network } from '../network.ts';
import { createGate } from './gate.ts';
import { createMachine, type Machine } from './machine.ts';
import { join, MANAGER_NAMESPACE, type Member } from './membership.ts';

export const HOME = 'home';
/** The other home cluster, where there are two. */
export const RIVAL = 'rival';
/** Of all quota. */
export const FLAVOR = { metadata: { name: 'default' }, spec: {} };
export const RECORD_KEY_SECRET = { namespace: MANAGER_NAMESPACE, name: 'record-key' };

/** What one team may use, all clusters together. Its ClusterQueue has the name of its namespace. */
export type Team = {
  readonly namespace: string;
  readonly quota: Readonly<Record<string, string>>;
  /** With the teams of the same cohort it lends and borrows. */
  readonly cohort?: string | undefined;
};

export type Cluster = Member & {
  readonly plane: RestorablePlane;
  readonly admin: KubeClient;
  readonly history: ClusterHistory;
  readonly network: Network;
  readonly machine: Machine;
  readonly kubelet: Kubelet;
  /** Namespaces in which an object was ever stored, by `group/plural`. */
  readonly storedIn: ReadonlyMap<string, ReadonlySet<string>>;
};

export type Yard = {
  readonly home: Cluster;
  /** Another home with the same worker clusters, whose manager says to be the same one. */
  readonly rival: Cluster | undefined;
  readonly workers: readonly Cluster[];
  readonly teams: readonly Team[];
  /** Records nothing more. */
  stop(): void;
  close(): Promise<void>;
};

export type YardOptions = {
  readonly workers: readonly string[];
  /** Those of the workers that come without the namespaces of the teams. */
  readonly bare?: readonly string[];
  /** What their ClusterQueues say beside quota; absent: nothing. */
  readonly queues?: Partial<ClusterQueueSpec>;
  /** Of the second home; absent: there is none. */
  readonly rivalTeams?: readonly Team[] | undefined;
  readonly teams: readonly Team[];
  readonly seed: number;
  readonly clock: FakeClock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  readonly onlooker?: Onlooker | undefined;
};

/** Is shown what happens, in the order in which it does. */
export interface Onlooker {
  /** A write was carried out on this cluster. */
  stored(cluster: string, record: PersistenceRecord): void;
  /** The way of managers to this cluster suffers an outage, until it is mended. */
  cutOff(cluster: string): void;
  mended(cluster: string): void;
  /** A user edits the marks of a copy there, until the edit is over. */
  edits(cluster: string): void;
  edited(cluster: string): void;
  /** A user deletes a copy there and leaves its pods. */
  orphans(cluster: string): void;
  started(program: string): void;
  died(program: string): void;
}

export async function createYard(options: YardOptions): Promise<Yard> {
  const { clock, teams, rivalTeams } = options;
  const everybody = [...teams, ...(rivalTeams ?? [])];
  const home = await createCluster(HOME, 0, teams, options);
  const rival = rivalTeams === undefined ? undefined : await createCluster(RIVAL, -1, rivalTeams, options);
  const homes = rival === undefined ? [home] : [home, rival];
  const workers: Cluster[] = [];
  for (const [position, name] of options.workers.entries()) workers.push(await createCluster(name, position + 1, everybody, options));
  for (const { machine } of workers) await machine.replace();
  await clock.advance(100);
  for (const { name, admin } of homes) {
    // A key of chance would make other seals, and so another story, each time.
    const key = Buffer.alloc(32, 'k').toString('base64');
    await admin.create(SECRETS, { metadata: RECORD_KEY_SECRET, data: { current: key } });
    await createQueues(admin, name === HOME ? teams : (rivalTeams ?? []), options.queues ?? {});
    for (const cluster of workers) await join(admin, cluster);
  }
  return {
    home,
    rival,
    workers,
    teams,
    stop() {
      for (const { history } of [...homes, ...workers]) history.stop();
    },
    async close() {
      for (const { plane } of [...homes, ...workers]) await plane.close();
    },
  };
}

/** `position` makes it differ from the others of its yard. */
async function createCluster(name: string, position: number, teams: readonly Team[], options: YardOptions): Promise<Cluster> {
  const { clock, dice, seed, bare = [] } = options;
  const namespaces = bare.includes(name) ? 'Create' : 'Require';
  const isHome = name === HOME || name === RIVAL;
  const storedIn = new Map<string, Set<string>>();
  const plane = await createRestorablePlane(
    {
      clock,
      random: seededRandom(seed * 31 + position),
      log: silentLogger,
      controllers: isHome ? ['garbage-collector', 'namespace'] : ['garbage-collector', 'namespace', 'pod-gc'],
    },
    isHome ? STORED_KINDS : undefined,
    (record) => {
      storedIn.set(record.table, (storedIn.get(record.table) ?? new Set()).add(record.namespace));
      options.onlooker?.stored(name, record);
    },
  );
  const admin = createKubeClient(plane.transport(), { userAgent: 'simulation', clock });
  for (const namespace of [MANAGER_NAMESPACE, ...(namespaces === 'Create' ? [] : teams.map((team) => team.namespace))]) {
    await admin.create(NAMESPACES, { metadata: { name: namespace } });
  }
  const tell = (line: string): void => options.trace(`${name}: ${line}`);
  const machine = createMachine(admin);
  return {
    name,
    url: `https://${name}.test`,
    namespaces,
    plane,
    gate: createGate(),
    admin,
    history: await recordHistory(admin),
    network: createNetwork(() => plane.transport(), clock, dice, tell),
    machine,
    kubelet: createKubelet(admin, clock, dice, tell, machine.node),
    storedIn,
  };
}

export const poolOf = ([first]: readonly Team[]): Team['quota'] => first?.quota ?? {};

async function createQueues(home: KubeClient, teams: readonly Team[], more: Partial<ClusterQueueSpec>): Promise<void> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => home.create(resource, object as never);
  await create(RESOURCE_FLAVORS, FLAVOR);
  const groupsOf = (quotas: readonly (readonly [string, string])[]): object[] => [
    {
      coveredResources: quotas.map(([name]) => name),
      flavors: [{ name: FLAVOR.metadata.name, resources: quotas.map(([name, nominalQuota]) => ({ name, nominalQuota })) }],
    },
  ];
  const { cohortName } = more;
  // Teams that share fairly have nothing of their own, and a pool that is enough for one of them.
  if (cohortName !== undefined) {
    await create(COHORTS, { metadata: { name: cohortName }, spec: { resourceGroups: groupsOf(Object.entries(poolOf(teams))) } });
  }
  for (const { namespace, quota, cohort } of teams) {
    const own = Object.entries(quota).map(([name, nominal]) => [name, cohortName === undefined ? nominal : '0'] as const);
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    const spec = { ...omitUndefined({ cohortName: cohort }), ...more, namespaceSelector, resourceGroups: groupsOf(own) };
    await create(CLUSTER_QUEUES, { metadata: { name: namespace }, spec });
    await create(LOCAL_QUEUES, { metadata: { name: 'main', namespace }, spec: { clusterQueue: namespace } });
  }
}
