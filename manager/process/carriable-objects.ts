import type { ConfigMap, DeepReadonly, KubeObject, Secret } from '../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, type Resource, SECRETS } from '../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../shared/kube/informer.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import type { CarriedObjects } from '../admission/queues/carried-objects.ts';
import type { PodReference } from '../api/pod-references.ts';
import { synced } from './awaited-informers.ts';

export type CarriableObjects = CarriedObjects & {
  /** Lists and watches until `signal` aborts. A namespace that may not be read delays no other. */
  run(signal: AbortSignal): Promise<void>;
};

/**
 * Names of the ConfigMaps and Secrets in the namespaces from which Jobs may take them. The API server is asked for metadata alone, and only
 * names are kept.
 */
export function createCarriableObjects(
  namespaces: readonly string[],
  options: Pick<InformerOptions<KubeObject>, 'client' | 'clock' | 'random' | 'log'>,
): CarriableObjects {
  const callbacks: ((namespace: string, key: string | undefined) => void)[] = [];
  const changed = (namespace: string, key: string | undefined): void => {
    for (const callback of callbacks) callback(namespace, key);
  };
  const informers = new Map<string, Informer<KubeObject>>();
  for (const namespace of new Set(namespaces)) {
    for (const resource of [CONFIG_MAPS as Resource<ConfigMap | Secret>, SECRETS as Resource<ConfigMap | Secret>]) {
      const informer = createInformer<KubeObject>({
        ...options,
        resource: resource as Resource,
        namespace,
        answer: 'metadata',
        transform: nameOnly,
      });
      const { kind } = resource;
      const onChange = ({ metadata }: DeepReadonly<KubeObject>): void => changed(namespace, `${kind}/${metadata.name}`);
      informer.addHandler({ added: onChange, deleted: onChange });
      informers.set(placeOf(namespace, kind), informer);
    }
  }
  return {
    find(namespace, reference: PodReference) {
      const informer = informers.get(placeOf(namespace, reference.kind));
      if (informer === undefined) return 'Forbidden';
      if (!informer.hasSynced()) return 'Unknown';
      return informer.get({ namespace, name: reference.name }) === undefined ? 'Missing' : 'Present';
    },
    onChange: (callback) => void callbacks.push(callback),
    run: (signal) =>
      allOrNone(
        signal,
        [...informers].flatMap(([place, informer]) => [
          (each: AbortSignal) => informer.run(each),
          async (each: AbortSignal) => {
            if (await synced(informer, each)) changed(place.slice(0, place.indexOf('/')), undefined);
          },
        ]),
      ),
  };
}

const placeOf = (namespace: string, kind: string): string => `${namespace}/${kind}`;

const nameOnly = ({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp: '' },
});
