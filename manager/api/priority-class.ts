import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';

/** scheduling.k8s.io/v1 PriorityClass, as far as the order of Jobs is concerned. */
export type PriorityClass = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  value: number;
  globalDefault?: boolean;
};

export const PRIORITY_CLASSES: Resource<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};

/** As many as the status of a WorkerCluster can tell of. */
export const PRIORITY_CLASSES_MAX = 200;
