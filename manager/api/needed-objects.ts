import type { DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import { PERSISTENT_VOLUME_CLAIMS, type Resource, SERVICE_ACCOUNTS } from '../../shared/api/resources.ts';

/** An object of its own namespace that a pod needs and that is never carried: a cluster without it cannot run the pod. */
export type NeededObject = { readonly kind: 'PersistentVolumeClaim' | 'ServiceAccount'; readonly name: string };

export const NEEDED_RESOURCES: Readonly<Record<NeededObject['kind'], Resource>> = {
  PersistentVolumeClaim: PERSISTENT_VOLUME_CLAIMS,
  ServiceAccount: SERVICE_ACCOUNTS,
};

/**
 * What a cluster says about an object. Asked: its first answer is awaited. Unanswered: it cannot be asked now. Unknown: the manager may not
 * look, or keeps too many answers already, so the object counts as present.
 */
export type ObjectAnswer = 'Present' | 'Missing' | 'Asked' | 'Unanswered' | 'Unknown';

/** Those who wait for objects of clusters. */
export type ObjectWaiters = {
  /** Whether a waiting Job needs the object of this `referenceKey`. */
  readonly isNeeded: (namespace: string, key: string) => boolean;
  /** The answers about an object have changed; without arguments those about all objects. */
  readonly changed: (namespace?: string, key?: string) => void;
};

/** The most objects of one Job that clusters are asked for: the first by kind and name. */
export const NEEDED_OBJECTS_MAX = 32;

/** The most missing objects that the status of a WorkerCluster lists. */
export const MISSING_OBJECTS_MAX = 200;

/** Every namespace has this ServiceAccount. */
const DEFAULT_SERVICE_ACCOUNT = 'default';

/** `PersistentVolumeClaim team/data` */
export const formatNeededObject = (namespace: string, { kind, name }: NeededObject): string => `${kind} ${namespace}/${name}`;

/** The PersistentVolumeClaims and the ServiceAccount that the pods name, each once and {@link NEEDED_OBJECTS_MAX} at most. */
export function neededObjects(spec: DeepReadonly<PodSpec> | undefined): readonly NeededObject[] {
  if (spec === undefined) return [];
  // Fields that clients send may be null.
  const claims = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName || []);
  const account = spec.serviceAccountName || spec.serviceAccount;
  const needed: NeededObject[] = [...new Set(claims)].toSorted().map((name) => ({ kind: 'PersistentVolumeClaim', name }));
  if (account && account !== DEFAULT_SERVICE_ACCOUNT) needed.push({ kind: 'ServiceAccount', name: account });
  return needed.length <= NEEDED_OBJECTS_MAX ? needed : needed.slice(0, NEEDED_OBJECTS_MAX);
}
