import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';

/** A priority for Jobs, apart from that of their pods; Jobs name it by label. The fields are those of Kueue. */
export type WorkloadPriorityClass = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  /** Jobs with a higher value go first. */
  value: number;
  description?: string;
};

export const WORKLOAD_PRIORITY_CLASSES = switchyardResource<WorkloadPriorityClass>({
  kind: 'WorkloadPriorityClass',
  plural: 'workloadpriorityclasses',
  namespaced: false,
});
