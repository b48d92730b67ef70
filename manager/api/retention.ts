import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { parseDurationMs } from './duration.ts';
import type { WorkerClusterSpec } from './worker-cluster.ts';

/** How long the copies of finished Jobs stay on a cluster, in milliseconds after their end. */
export type Retention = { readonly completeMs: number; readonly failedMs: number };

/** The most finished copies that stay on one cluster: the latest. */
export const RETAINED_MAX = 100;

/** Undefined where finished copies are deleted at once. */
export function retentionOf({ retainFinished }: Pick<DeepReadonly<WorkerClusterSpec>, 'retainFinished'>): Retention | undefined {
  const ms = (text: string | undefined): number => parseDurationMs(text ?? '') ?? 0;
  const retention = { completeMs: ms(retainFinished?.complete), failedMs: ms(retainFinished?.failed) };
  return retention.completeMs > 0 || retention.failedMs > 0 ? retention : undefined;
}
