import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { minParallelismOf, requestsWishOf } from '../../api/job-annotations.ts';
import type { PodSet } from '../pod-sets.ts';
import { podsAtOnce } from './pod-count.ts';

/** The one pod set of a Job. Floating resources and a least count that cannot be read are left out: such a Job is refused, or waits. */
export function podSetsOf(job: DeepReadonly<Unsaved<Job>>): readonly PodSet[] {
  const wish = requestsWishOf(job);
  const least = minParallelismOf(job);
  return [
    {
      name: 'main',
      count: podsAtOnce(job),
      template: job.spec.template,
      ...(wish.kind === 'Requests' && wish.perPod.size > 0 ? { perPod: wish.perPod } : {}),
      ...(least.kind === 'MinParallelism' && least.pods !== undefined ? { minCount: least.pods } : {}),
    },
  ];
}
