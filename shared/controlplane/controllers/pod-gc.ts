import type { DeepReadonly, Node, Pod } from '../../api/kubernetes.ts';
import { NODES, PODS } from '../../api/resources.ts';
import { isNotFound } from '../../kube/api-error.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { objectKey } from '../../kube/keys.ts';
import { toWireTime } from '../../api/wire-time.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { type Doomed, doomedPods, isTerminal } from './doomed-pods.ts';

export type PodGcOptions = {
  /** Terminated pods above this number are deleted, oldest first; 0: none. */
  readonly terminatedThreshold?: number;
};

const PERIOD_MS = 20_000;
const TERMINATED_THRESHOLD = 12_500;
/** A node that disappeared is given this long to come back before its pods are given up. */
const QUARANTINE_MS = 40_000;

/**
 * Ends pods that no kubelet will ever end: those of nodes that are gone, those deleted before they had a node, and a surplus of old ones.
 */
export function createPodGc(deps: ControllerDeps, options: PodGcOptions = {}): Controller {
  return {
    async run(signal) {
      const pods = createInformer({ ...deps, resource: PODS });
      const nodes = createInformer({ ...deps, resource: NODES });
      const informers = [pods.run(signal), nodes.run(signal)];
      await sweepUntil(deps, pods, nodes, options.terminatedThreshold ?? TERMINATED_THRESHOLD, signal);
      await Promise.all(informers);
    },
  };
}

async function sweepUntil(
  deps: ControllerDeps,
  pods: Informer<Pod>,
  nodes: Informer<Node>,
  terminatedThreshold: number,
  signal: AbortSignal,
): Promise<void> {
  const quarantine = new Map<string, number>();
  while (!signal.aborted) {
    await sleep(deps.clock, PERIOD_MS, signal);
    if (signal.aborted || !pods.hasSynced() || !nodes.hasSynced()) continue;
    const goneNodes = await confirmedGone(deps, pods.list(), nodes.list(), quarantine);
    for (const doomed of doomedPods(pods.list(), nodes.list(), goneNodes, terminatedThreshold)) await end(deps, doomed);
  }
}

/** Nodes that pods name, that have been missing for the whole quarantine, and that the server does not know either. */
async function confirmedGone(
  { client, clock }: ControllerDeps,
  pods: readonly DeepReadonly<Pod>[],
  nodes: readonly DeepReadonly<Node>[],
  quarantine: Map<string, number>,
): Promise<ReadonlySet<string>> {
  const known = new Set(nodes.map((node) => node.metadata.name));
  const missing = new Set(pods.flatMap((pod) => pod.spec.nodeName ?? []).filter((name) => name !== '' && !known.has(name)));
  for (const name of quarantine.keys()) if (!missing.has(name)) quarantine.delete(name);
  const confirmed = new Set<string>();
  for (const name of missing) {
    const sinceMs = quarantine.get(name) ?? clock.now();
    quarantine.set(name, sinceMs);
    if (clock.now() - sinceMs < QUARANTINE_MS) continue;
    try {
      await client.get(NODES, { namespace: '', name });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      confirmed.add(name);
    }
  }
  return confirmed;
}

/** Gives the pod a terminal phase, which its Job waits for, then removes it. */
async function end({ client, clock, log }: ControllerDeps, { pod, reason }: Doomed): Promise<void> {
  const key = objectKey(pod);
  try {
    if (!isTerminal(pod)) {
      const disrupted = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: toWireTime(clock.now()),
      };
      const status = { phase: 'Failed', ...(reason === 'orphaned' ? { conditions: [disrupted] } : {}) };
      await client.patchStatus(PODS, key, { type: 'strategic', body: { metadata: { uid: pod.metadata.uid }, status } });
    }
    await client.delete(PODS, key, { gracePeriodSeconds: 0, uid: pod.metadata.uid });
    log.info('pod removed', { pod: `${key.namespace}/${key.name}`, reason });
  } catch (error) {
    // The next sweep comes back to it.
    if (!isNotFound(error)) log.warn('a pod could not be removed', { pod: `${key.namespace}/${key.name}`, reason, error });
  }
}
