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

export const RUNTIME_CLASSES: Resource<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};
