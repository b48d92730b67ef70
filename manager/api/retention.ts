import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { parseDurationMs } from './duration.ts';
import type { WorkerClusterSpec } from './worker-cluster.ts';

/** For how long the copies of Jobs that have ended stay on a cluster, in milliseconds after the end. */
export type Retention = { readonly completeMs: number; readonly failedMs: number };

/** So many copies that have ended stay on one cluster at most: the latest. */
export const RETAINED_MAX = 100;

/** Undefined where they go at once. */
export function retentionOf({ retainFinished }: Pick<DeepReadonly<WorkerClusterSpec>, 'retainFinished'>): Retention | undefined {
  const ms = (text: string | undefined): number => parseDurationMs(text ?? '') ?? 0;
  const retention = { completeMs: ms(retainFinished?.complete), failedMs: ms(retainFinished?.failed) };
  return retention.completeMs > 0 || retention.failedMs > 0 ? retention : undefined;
}
