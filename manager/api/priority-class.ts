import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';

/** The fields of a scheduling.k8s.io/v1 PriorityClass that order Jobs. */
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

/** The most PriorityClasses that the status of a WorkerCluster may list. */
export const PRIORITY_CLASSES_MAX = 200;
