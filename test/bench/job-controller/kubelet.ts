import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Pod } from '../../../shared/api/kubernetes.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';

/** Status writes under way at once. */
const LANES = 24;

/** Every node's kubelet in one, with pods whose work takes no time: each pod is marked Succeeded as soon as it is seen. */
export async function runKubelet(client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  const waiting: string[] = [];
  const lanes = new Set<Promise<void>>();
  const informer = createInformer<Pod>({
    client,
    resource: PODS,
    namespace,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    // Nothing but the name is of interest.
    transform: (pod) => ({ metadata: { ...pod.metadata, labels: {}, annotations: {} }, spec: { containers: [] } }),
  });
  informer.addHandler({
    added: ({ metadata }) => {
      waiting.push(metadata.name);
      if (lanes.size < LANES) startLane();
    },
  });
  await informer.run(signal);
  await Promise.all(lanes);

  function startLane(): void {
    const lane = workOff().finally(() => lanes.delete(lane));
    lanes.add(lane);
  }
  async function workOff(): Promise<void> {
    for (let name = waiting.shift(); name !== undefined && !signal.aborted; name = waiting.shift()) await succeed(name);
  }
  async function succeed(name: string): Promise<void> {
    try {
      await client.patchStatus(PODS, { namespace, name }, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
    } catch (error) {
      if (!isNotFound(error) && !signal.aborted) throw error;
    }
  }
}
