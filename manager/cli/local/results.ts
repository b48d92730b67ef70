import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX, JOB_NAME_LABEL } from '../../../shared/api/names.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import type { LocalCluster } from './clusters.ts';

/** What one pod printed. */
export type PodOutput = {
  readonly job: string;
  readonly index: number | undefined;
  readonly pod: string;
  readonly cluster: string;
  readonly text: string;
};

export type Results = { all(): readonly PodOutput[] };

/** Fetches the log of each pod as soon as the pod has succeeded: once its Job is home, the copy and its pods go. */
export function collectResults(clusters: readonly LocalCluster[], signal: AbortSignal): Results {
  const outputs = new Map<string, PodOutput>();
  for (const cluster of clusters) {
    const fetchLog = async (pod: DeepReadonly<Pod>): Promise<void> => {
      const { namespace, name, uid, labels, annotations } = pod.metadata;
      const text = await cluster.client.raw({ method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/${name}/log` });
      const index = annotations?.[JOB_COMPLETION_INDEX];
      outputs.set(uid, {
        job: labels?.[JOB_NAME_LABEL] ?? '',
        index: index === undefined ? undefined : Number(index),
        pod: name,
        cluster: cluster.name,
        text,
      });
    };
    const seen = new Set<string>();
    const look = (pod: DeepReadonly<Pod>): void => {
      if (pod.status?.phase !== 'Succeeded' || seen.has(pod.metadata.uid)) return;
      seen.add(pod.metadata.uid);
      fetchLog(pod).catch((error: unknown) => {
        outputs.set(pod.metadata.uid, {
          job: '',
          index: undefined,
          pod: pod.metadata.name,
          cluster: cluster.name,
          text: `no log: ${String(error)}`,
        });
      });
    };
    const informer = createInformer({ client: cluster.client, resource: PODS, clock: systemClock, random: Math.random, log: silentLogger });
    informer.addHandler({ added: look, updated: look });
    void informer.run(signal);
  }
  return { all: () => [...outputs.values()] };
}
