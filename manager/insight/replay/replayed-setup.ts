import type { DeepReadonly, KubeObject, Namespace } from '../../../shared/api/kubernetes.ts';
import { QuantityError } from '../../../shared/kube/quantity.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import type { Cohort } from '../../api/cohort.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import { clusterStateOf, type ClusterState } from '../../admission/quota/cluster-state.ts';
import { objectName, type LoggedObject, type SetupKind } from '../../admission/decision-log/decision-log.ts';
import type { SetupObjects } from '../../admission/decision-log/logged-object.ts';
import { priorityClassesOf, type PriorityClasses } from '../../admission/workload/priority.ts';
import { noChangedObjects, type ChangedObjects } from '../../admission/snapshot/setup-changes.ts';

/** The objects that decisions of a replay depend on: those of the log, and those that replace them. */
export interface ReplayedSetup {
  /** Sets an object of the log; ignored if the object is replaced. */
  set(object: LoggedObject): void;
  gone(name: string): void;
  objects(): SetupObjects;
  clusters(): readonly ClusterState[];
  priorityClasses(): PriorityClasses;
  /** Returns the changes since the last call. */
  takeChanges(): SetupChanges;
}

export type SetupChanges = {
  readonly queueing: boolean;
  readonly clusters: boolean;
  readonly priorities: boolean;
  readonly objects: ChangedObjects;
};

/** `instead`: objects that replace those of the same names for the whole replay. */
export function createReplayedSetup(instead: readonly LoggedObject[]): ReplayedSetup {
  const objects = new Map(instead.map((object) => [objectName(object), object]));
  const fixed = new Set(objects.keys());
  let kinds = new Set<SetupKind>(instead.map(({ kind }) => kind));
  let changed = noChangedObjects();

  const note = (name: string): void => {
    const [kind = '', key = ''] = name.split(' ');
    kinds.add(kind as SetupKind);
    const field = QUEUEING_FIELDS[kind];
    if (field !== undefined) changed[field].add(key);
  };
  for (const name of fixed) note(name);

  const listed = <T extends KubeObject>(kind: SetupKind): T[] =>
    [...objects.values()].filter((object) => object.kind === kind).map((object) => asObject(object) as unknown as T);

  return {
    set: (object) => {
      const name = objectName(object);
      if (fixed.has(name)) return;
      objects.set(name, object);
      note(name);
    },
    gone: (name) => {
      if (!fixed.has(name) && objects.delete(name)) note(name);
    },
    objects: () => ({
      clusterQueues: listed<ClusterQueue>('ClusterQueue'),
      localQueues: listed<LocalQueue>('LocalQueue'),
      resourceFlavors: listed<ResourceFlavor>('ResourceFlavor'),
      cohorts: listed<Cohort>('Cohort'),
      namespaces: listed<Namespace>('Namespace'),
      workerClusters: listed<WorkerCluster>('WorkerCluster'),
      workloadPriorityClasses: listed<WorkloadPriorityClass>('WorkloadPriorityClass'),
      priorityClasses: listed<PriorityClass>('PriorityClass'),
    }),
    clusters: () => listed<WorkerCluster>('WorkerCluster').flatMap(readable),
    priorityClasses: () =>
      priorityClassesOf(listed<WorkloadPriorityClass>('WorkloadPriorityClass'), listed<PriorityClass>('PriorityClass')),
    takeChanges: () => {
      const before = kinds;
      const beforeObjects = changed;
      kinds = new Set();
      changed = noChangedObjects();
      return {
        queueing: Object.keys(QUEUEING_FIELDS).some((kind) => before.has(kind as SetupKind)),
        clusters: before.has('WorkerCluster'),
        priorities: before.has('WorkloadPriorityClass') || before.has('PriorityClass'),
        objects: beforeObjects,
      };
    },
  };
}

const QUEUEING_FIELDS: Readonly<Record<string, keyof ChangedObjects>> = {
  ClusterQueue: 'clusterQueues',
  LocalQueue: 'localQueues',
  ResourceFlavor: 'resourceFlavors',
  Cohort: 'cohorts',
  Namespace: 'namespaces',
};

/** The log omits fields that no decision depends on. */
const asObject = ({ kind: _kind, metadata, ...fields }: LoggedObject): DeepReadonly<KubeObject> => ({
  ...fields,
  metadata: { uid: metadata.name, resourceVersion: '', creationTimestamp: '', ...metadata },
});

/** A cluster whose capacity cannot be read accepts no Jobs. */
function readable(cluster: WorkerCluster): ClusterState[] {
  try {
    return [clusterStateOf(cluster)];
  } catch (error) {
    if (error instanceof QuantityError) return [];
    throw error;
  }
}
