import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../shared/kube/informer.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import type { NeededObject, ObjectAnswer } from '../../api/needed-objects.ts';
import { PRIORITY_CLASSES } from '../../api/priority-class.ts';
import { RUNTIME_CLASSES } from '../../api/runtime-class.ts';
import { essentialsOfClass, priorityClassNames, runtimeClassNames } from '../cluster/class-names.ts';
import type { Inventory } from '../cluster/cluster-status.ts';
import { createObjectInquiries } from './object-inquiries.ts';
import type { RemoteClusterOptions } from './remote-cluster-contract.ts';

/**
 * What one cluster has of what Jobs need there and do not bring along: its classes, which are few and watched, and single objects, which
 * are asked for by name.
 */
export interface ClusterInventory {
  /** For the status of the WorkerCluster. */
  found(): Omit<Inventory, 'workKinds'>;
  /** See `ObjectInquiries`. */
  answer(namespace: string, object: NeededObject): ObjectAnswer;
  run(signal: AbortSignal): Promise<void>;
}

/** Tenants decide how often an object is missing: the status lists the missing ones at most once in this time. */
const MISSING_INTERVAL_MS = 2_000;

/** `isReady`: the cluster answers now. `onChanged`: what was found has changed. */
export function createClusterInventory(
  { name, metrics, objectWaiters: waiters }: Pick<RemoteClusterOptions, 'name' | 'metrics' | 'objectWaiters'>,
  watching: Omit<InformerOptions<KubeObject>, 'resource' | 'transform'>,
  isReady: () => boolean,
  onChanged: () => void,
): ClusterInventory {
  const { clock } = watching;
  const informerOf = (resource: Resource): Informer<KubeObject> => {
    const informer = createInformer<KubeObject>({ ...watching, resource, transform: essentialsOfClass });
    informer.addHandler({ added: onChanged, deleted: onChanged });
    return informer;
  };
  const priorityClasses = informerOf(PRIORITY_CLASSES as Resource);
  const runtimeClasses = informerOf(RUNTIME_CLASSES as Resource);
  let missing: readonly string[] = [];
  let next: Timer | undefined;
  let hasStopped = false;
  const objects = createObjectInquiries({
    ...watching,
    cluster: name,
    metrics: metrics.workqueues.of('object-inquiries', name),
    isReady,
    waiters: {
      isNeeded: waiters.isNeeded,
      changed: (namespace, key) => {
        waiters.changed(namespace, key);
        if (hasStopped) return;
        next ??= clock.schedule(() => {
          next = undefined;
          missing = objects.missing();
          onChanged();
        }, MISSING_INTERVAL_MS);
      },
    },
  });
  return {
    found: () => ({
      priorityClasses: priorityClasses.hasSynced() ? priorityClassNames(priorityClasses.list()) : undefined,
      runtimeClasses: runtimeClasses.hasSynced() ? runtimeClassNames(runtimeClasses.list()) : undefined,
      missingObjects: missing,
    }),
    answer: objects.answer.bind(objects),
    async run(signal) {
      onAbort(signal, () => {
        hasStopped = true;
        next?.cancel();
      });
      await Promise.all([
        objects.run(signal),
        ...[priorityClasses, runtimeClasses].flatMap((informer) => [
          informer.run(signal),
          // Also for an empty list, for which no handler is called.
          informer.waitForSync(signal).then(onChanged, () => undefined),
        ]),
      ]);
    },
  };
}
