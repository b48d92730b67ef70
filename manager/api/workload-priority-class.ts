import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';

/** A priority for Jobs that is not that of their pods; Jobs name it by label. The same fields as Kueue's. */
export type WorkloadPriorityClass = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  /** Higher goes first. */
  value: number;
  description?: string;
};

export const WORKLOAD_PRIORITY_CLASSES = switchyardResource<WorkloadPriorityClass>({
  kind: 'WorkloadPriorityClass',
  plural: 'workloadpriorityclasses',
  namespaced: false,
});
