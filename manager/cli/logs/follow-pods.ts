import type { DeepReadonly, ObjectKey, Pod } from '../../../shared/api/kubernetes.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
import { followObjects } from '../follow-objects.ts';
import { isChosenPod, type PodChoice } from './log-lines.ts';
import { printPodLog, type LogSink } from './print-pod-log.ts';

export type PodsOfJob = PodChoice & {
  readonly namespace: ObjectKey['namespace'];
  readonly labelSelector: string;
  /** Only the last lines of what a pod has written until now. */
  readonly tail: number | undefined;
};

export interface FollowedPods {
  /** Of how many pods a log was printed. */
  readonly count: number;
  /** Nothing new begins, and what is written is read to its end: for so long at most. */
  end(withinMs: number): Promise<void>;
}

/**
 * Prints the logs of a Job's pods, those that come later, too, from when their containers have started. `onTrouble` hears why that does not
 * work (any more).
 */
export function followPods(
  { client }: ClusterConnection,
  { namespace, labelSelector, tail, ...choice }: PodsOfJob,
  sink: LogSink,
  signal: AbortSignal,
  onTrouble: (error: unknown) => void,
): FollowedPods {
  const [noMore, over] = [new AbortController(), new AbortController()];
  const begun = new Set<string>();
  const printing = new Set<Promise<void>>();
  const unended = AbortSignal.any([signal, over.signal]);
  let count = 0;
  const seen = (pod: DeepReadonly<Pod>): void => {
    if (begun.has(pod.metadata.uid) || !isChosenPod(pod, choice) || !hasBegun(pod)) return;
    begun.add(pod.metadata.uid);
    const printed = printPodLog({ client, pod, tail, follow: true, sink, signal: unended }).then((was) => {
      if (was) count++;
    }, onTrouble);
    printing.add(printed);
    void printed.finally(() => printing.delete(printed));
  };
  const stopping = AbortSignal.any([signal, noMore.signal]);
  const follow = async (): Promise<void> => {
    // Whoever follows tries again for ever; that it is forbidden is heard here.
    await client.list(PODS, { namespace, labelSelector, limit: 1, signal: stopping });
    await followObjects(client, { resource: PODS, namespace, labelSelector }, async (pod) => seen(pod), stopping);
  };
  const following = follow().catch((error: unknown) => {
    if (!stopping.aborted) onTrouble(error);
  });
  return {
    get count() {
      return count;
    },
    async end(withinMs) {
      const timer = setTimeout(() => over.abort(), withinMs);
      // The last pods are told on another connection than the end of the Job.
      await Promise.race([following, sleep(systemClock, Math.min(SETTLE_MS, withinMs), signal)]);
      noMore.abort();
      await following;
      await Promise.all(printing);
      clearTimeout(timer);
    },
  };
}

const SETTLE_MS = 100;

const hasBegun = ({ status }: DeepReadonly<Pod>): boolean =>
  status?.phase === 'Succeeded' ||
  status?.phase === 'Failed' ||
  (status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
