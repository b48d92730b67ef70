import type { DeepReadonly, KubeObject, Namespace } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import { ClusterCondition, type WorkerCluster } from '../../api/worker-cluster.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';
import type { LoggedObject, SetupKind } from './decision-log.ts';
import type { QueueingObjects } from '../snapshot/snapshot.ts';

/** All objects except Jobs that decisions depend on, as the cluster has them. */
export type SetupObjects = QueueingObjects & {
  readonly workerClusters: readonly DeepReadonly<WorkerCluster>[];
  readonly workloadPriorityClasses: readonly DeepReadonly<WorkloadPriorityClass>[];
  readonly priorityClasses: readonly DeepReadonly<PriorityClass>[];
};

/** All objects with their kinds. {@link loggedObject} is called only for changed ones. */
export function* loggable(objects: SetupObjects): Generator<{ readonly kind: SetupKind; readonly object: DeepReadonly<KubeObject> }> {
  for (const [kind, field] of Object.entries(FIELDS) as [SetupKind, keyof SetupObjects][])
    for (const object of objects[field]) yield { kind, object };
}

const FIELDS: Readonly<Record<SetupKind, keyof SetupObjects>> = {
  ClusterQueue: 'clusterQueues',
  Cohort: 'cohorts',
  LocalQueue: 'localQueues',
  ResourceFlavor: 'resourceFlavors',
  WorkerCluster: 'workerClusters',
  WorkloadPriorityClass: 'workloadPriorityClasses',
  PriorityClass: 'priorityClasses',
  Namespace: 'namespaces',
};

/** What admission reads of an object, and nothing else: no kubeconfig, no annotations, no status that decisions do not use. */
export function loggedObject(kind: SetupKind, object: DeepReadonly<KubeObject>): LoggedObject {
  const { name, namespace, labels } = object.metadata;
  const metadata = { name, ...(kind === 'LocalQueue' ? omitUndefined({ namespace }) : {}) };
  switch (kind) {
    case 'Namespace':
      return { kind, metadata: { ...metadata, ...omitUndefined({ labels: (object as DeepReadonly<Namespace>).metadata.labels }) } };
    case 'WorkerCluster':
      return { kind, metadata: { ...metadata, ...omitUndefined({ labels }) }, ...clusterParts(object as DeepReadonly<WorkerCluster>) };
    case 'WorkloadPriorityClass':
    case 'PriorityClass': {
      const { value, globalDefault } = object as DeepReadonly<PriorityClass>;
      return { kind, metadata, value, ...omitUndefined({ globalDefault }) };
    }
    case 'ClusterQueue':
    case 'Cohort':
    case 'LocalQueue':
    case 'ResourceFlavor':
      return { kind, metadata, ...omitUndefined({ spec: (object as { readonly spec?: unknown }).spec }) };
  }
}

/** Conditions that are always logged. Able is logged only if it is not True. */
const LOGGED: readonly string[] = [ClusterCondition.Ready, ClusterCondition.Reachable];

function clusterParts({ metadata, spec, status }: DeepReadonly<WorkerCluster>): { readonly spec: object; readonly status: object } {
  const { state, capacity, preference, data, servedNamespaces } = spec;
  const conditions = (status?.conditions ?? [])
    .filter(({ type, status: said }) => LOGGED.includes(type) || (type === ClusterCondition.Able && said !== 'True'))
    .map(({ type, status: said, reason, lastTransitionTime }) => {
      if (type === ClusterCondition.Able) return { type, status: said, reason, message: '', lastTransitionTime };
      // The transition time matters for Reachable only, the message for none.
      return type === ClusterCondition.Ready ? { type, status: said, reason, message: '' } : { type, status: said, lastTransitionTime };
    });
  return {
    spec: omitUndefined({
      state: metadata.deletionTimestamp === undefined ? state : 'Draining',
      capacity,
      preference,
      data,
      servedNamespaces,
    }),
    status: {
      ...omitUndefined({ clusterUID: status?.clusterUID, allocatable: status?.allocatable, lostSince: status?.lostSince }),
      ...omitUndefined({
        nodeShapes: status?.nodeShapes,
        priorityClasses: status?.priorityClasses,
        runtimeClasses: status?.runtimeClasses,
        workKinds: status?.workKinds,
      }),
      ...omitUndefined({ unreadableNamespaces: status?.unreadableNamespaces }),
      conditions,
    },
  };
}
