import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';

/** The fields of a node.k8s.io/v1 RuntimeClass that add to the requests of its pods. */
export type RuntimeClass = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  handler: string;
  overhead?: { podFixed?: Record<string, string> };
};

/** The most RuntimeClasses that the status of a WorkerCluster may list. */
export const RUNTIME_CLASSES_MAX = 200;

export const RUNTIME_CLASSES: Resource<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};
