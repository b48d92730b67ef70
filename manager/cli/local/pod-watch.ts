import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX, JOB_NAME_LABEL } from '../../../shared/api/names.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { nextBackoff, NO_BACKOFF, remainingBackoffMs, type BackoffRecord } from '../../../worker/job/backoff.ts';
import type { LocalCluster } from './clusters.ts';

/** What one pod printed. */
export type PodOutput = {
  readonly job: string;
  readonly index: number | undefined;
  readonly pod: string;
  readonly cluster: string;
  readonly text: string;
};

export type PodWatch = {
  /** Of the pods that have succeeded. */
  outputs(): readonly PodOutput[];
  /** Epoch milliseconds of the next try of a Job, or of one of its indexes, whose last pods have failed. */
  nextTryMillis(job: string): number | undefined;
};

/**
 * Follows the pods of the worker clusters, and fetches the log of each as soon as it has succeeded: once its Job is home, the copy and its
 * pods go.
 */
export function watchPods(clusters: readonly LocalCluster[], signal: AbortSignal): PodWatch {
  const outputs = new Map<string, PodOutput>();
  /** By Job, then by index. */
  const backoffs = new Map<string, Map<string, BackoffRecord>>();
  for (const cluster of clusters) {
    const ended = new Set<string>();
    const look = (pod: DeepReadonly<Pod>): void => {
      const phase = pod.status?.phase;
      if ((phase !== 'Succeeded' && phase !== 'Failed') || ended.has(pod.metadata.uid)) return;
      ended.add(pod.metadata.uid);
      const endMs = endOf(pod) ?? Date.now();
      const byIndex = backoffs.get(jobOf(pod)) ?? new Map<string, BackoffRecord>();
      const index = indexOf(pod) ?? '';
      const earlier = byIndex.get(index) ?? NO_BACKOFF;
      byIndex.set(index, phase === 'Succeeded' ? nextBackoff(earlier, [endMs], []) : nextBackoff(earlier, [], [endMs]));
      backoffs.set(jobOf(pod), byIndex);
      if (phase === 'Succeeded') void outputOf(pod, cluster).then((output) => outputs.set(pod.metadata.uid, output));
    };
    const informer = createInformer({ client: cluster.client, resource: PODS, clock: systemClock, random: Math.random, log: silentLogger });
    informer.addHandler({ added: look, updated: look });
    void informer.run(signal);
  }
  return {
    outputs: () => [...outputs.values()],
    nextTryMillis(job) {
      const next = [...(backoffs.get(job)?.values() ?? [])].flatMap(({ failuresAfterLastSuccess, lastFailureMs }) =>
        lastFailureMs === undefined ? [] : lastFailureMs + remainingBackoffMs(failuresAfterLastSuccess, lastFailureMs, lastFailureMs),
      );
      return next.length === 0 ? undefined : Math.min(...next);
    },
  };
}

async function outputOf(pod: DeepReadonly<Pod>, cluster: LocalCluster): Promise<PodOutput> {
  const { namespace, name } = pod.metadata;
  const index = indexOf(pod);
  const from = { job: jobOf(pod), index: index === undefined ? undefined : Number(index), pod: name, cluster: cluster.name };
  try {
    return { ...from, text: await cluster.client.raw({ method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/${name}/log` }) };
  } catch (error) {
    return { ...from, job: '', text: `no log: ${String(error)}` };
  }
}

const jobOf = (pod: DeepReadonly<Pod>): string => pod.metadata.labels?.[JOB_NAME_LABEL] ?? '';
const indexOf = (pod: DeepReadonly<Pod>): string | undefined => pod.metadata.annotations?.[JOB_COMPLETION_INDEX];

function endOf(pod: DeepReadonly<Pod>): number | undefined {
  const ends = pod.status?.containerStatuses?.flatMap(({ state }) => state?.terminated?.finishedAt ?? []) ?? [];
  return ends.length === 0 ? undefined : Math.max(...ends.map((time) => Date.parse(time)));
}
