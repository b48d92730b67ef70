import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';

/** Jobs and copies that remain on a cluster. */
export type WhatRemains = {
  /** Keys of the Jobs whose record names the cluster, or may. */
  readonly jobs: readonly string[];
  /** The number of copies; Unread: they are not listed yet; undefined while the cluster cannot be read. */
  readonly copies: number | 'Unread' | undefined;
};

export type RemovalJudgement =
  | { readonly kind: 'Goes' }
  | { readonly kind: 'Stays'; readonly reason: 'JobsRemain' | 'CopiesRemain' | 'CopiesUnread'; readonly message: string };

const LISTED_MAX = 3;

/**
 * Decides whether a WorkerCluster that is being deleted may go, or what it waits for. Copies of finished Jobs are deleted where the cluster
 * answers, and left behind elsewhere.
 */
export function judgeRemoval({ metadata, spec, status }: DeepReadonly<WorkerCluster>, { jobs, copies }: WhatRemains): RemovalJudgement {
  if (jobs.length === 0) {
    if (copies === undefined || copies === 0) return { kind: 'Goes' };
    if (copies === 'Unread') return { kind: 'Stays', reason: 'CopiesUnread', message: 'deleted; the copies there are not listed yet' };
    return { kind: 'Stays', reason: 'CopiesRemain', message: `deleted; ${count(copies, 'copy', 'copies')} there are being deleted` };
  }
  const others = jobs.length > LISTED_MAX ? ` and ${jobs.length - LISTED_MAX} more` : '';
  const named = `${jobs.toSorted().slice(0, LISTED_MAX).join(', ')}${others}`;
  const waits = `deleted; it goes when no Job's record names it. ${count(jobs.length, 'Job is', 'Jobs are')} left (${named}): the condition Dispatched of each says what it waits for`;
  const isLost = status?.lostSince !== undefined && spec.state !== 'Lost';
  const remedy = `. The cluster is lost; to give it up: kubectl patch workercluster ${metadata.name} --type merge -p '{"spec":{"state":"Lost"}}'`;
  return { kind: 'Stays', reason: 'JobsRemain', message: isLost ? waits + remedy : waits };
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;
