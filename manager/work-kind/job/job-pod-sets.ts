import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { PodSet } from '../pod-sets.ts';
import { podsAtOnce } from './pod-count.ts';

/** The one pod set of a Job. */
export const podSetsOf = (job: DeepReadonly<Pick<Job, 'spec'>>): readonly PodSet[] => [
  { name: 'main', count: podsAtOnce(job), template: job.spec.template },
];
