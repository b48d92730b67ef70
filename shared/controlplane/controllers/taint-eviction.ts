import type { DeepReadonly, Node, Pod } from '../../api/kubernetes.ts';
import { NODES, PODS } from '../../api/resources.ts';
import { isNotFound } from '../../kube/api-error.ts';
import { runController, type ReconcileResult } from '../../kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { keyOfObject, objectKey, parseKey } from '../../kube/keys.ts';
import { tolerates } from '../../kube/taints.ts';
import { createWorkqueue } from '../../kube/workqueue.ts';
import { toWireTime } from '../../api/wire-time.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { isTerminal } from './doomed-pods.ts';

const WORKERS = 4;
const RATE_LIMIT = { baseDelayMs: 10, maxDelayMs: 10_000 };
const BY_NODE = 'node';

/**
 * Evicts pods from nodes with NoExecute taints, as kube-controller-manager's taint-eviction-controller does: at once where
 * a pod does not tolerate one, or when its tolerationSeconds are over. The pod is told why by a DisruptionTarget condition.
 */
export function createTaintEviction(deps: ControllerDeps): Controller {
  return {
    async run(signal) {
      const queue = createWorkqueue({ name: 'taint_eviction', clock: deps.clock, rateLimit: RATE_LIMIT });
      const nodes = createInformer({ ...deps, resource: NODES });
      const pods = createInformer({ ...deps, resource: PODS, indexers: { [BY_NODE]: ({ spec }) => [spec.nodeName ?? ''] } });
      const judgeAllOn = ({ metadata }: DeepReadonly<Node>): void => {
        for (const pod of pods.byIndex(BY_NODE, metadata.name)) queue.add(keyOfObject(pod));
      };
      nodes.addHandler({ added: judgeAllOn, updated: judgeAllOn, deleted: judgeAllOn });
      const judge = (pod: DeepReadonly<Pod>): void => queue.add(keyOfObject(pod));
      pods.addHandler({ added: judge, updated: judge });
      const recorder = createEventRecorder({ ...deps, component: 'taint-eviction-controller', signal });
      const noticed: Noticed = new Map();
      pods.addHandler({ deleted: ({ metadata }) => noticed.delete(metadata.uid) });
      const reconcile = (key: string): Promise<ReconcileResult> => evictWhenDue({ ...deps, recorder }, nodes, pods, noticed, key);
      const working = runController({ ...deps, name: 'taint-eviction', queue, concurrency: WORKERS, reconcile });
      await Promise.all([nodes.run(signal), pods.run(signal)]);
      queue.shutDown();
      await working;
    },
  };
}

/** When each pod, by UID, was first seen on a node that is tainted against it. */
type Noticed = Map<string, number>;

type EvictionDeps = ControllerDeps & { readonly recorder: EventRecorder };

async function evictWhenDue(
  deps: EvictionDeps,
  nodes: Informer<Node>,
  pods: Informer<Pod>,
  noticed: Noticed,
  key: string,
): Promise<ReconcileResult> {
  const pod = pods.get(parseKey(key));
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const patienceMs = toleratedMs(pod, nodes.get({ namespace: '', name: pod.spec.nodeName ?? '' }));
  const { uid } = pod.metadata;
  if (patienceMs === Infinity) {
    noticed.delete(uid);
    return undefined;
  }
  const nowMs = deps.clock.now();
  const sinceMs = noticed.get(uid) ?? nowMs;
  noticed.set(uid, sinceMs);
  if (sinceMs + patienceMs > nowMs) return { requeueAfterMs: sinceMs + patienceMs - nowMs };
  await evict(deps, pod);
  return undefined;
}

/** How long a pod may stay on a node: the least tolerationSeconds that count, 0 when some taint is not tolerated. */
export function toleratedMs(pod: DeepReadonly<Pod>, node: DeepReadonly<Node> | undefined): number {
  let leastMs = Infinity;
  for (const taint of node?.spec?.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const used = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (used.length === 0) return 0;
    for (const { tolerationSeconds } of used) {
      if (tolerationSeconds !== undefined) leastMs = Math.min(leastMs, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return leastMs;
}

async function evict({ client, clock, log, recorder }: EvictionDeps, pod: DeepReadonly<Pod>): Promise<void> {
  const key = objectKey(pod);
  const { uid } = pod.metadata;
  const disrupted = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: toWireTime(clock.now()),
  };
  recorder.event(PODS, pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key.namespace}/${key.name}`);
  try {
    if (!isTerminal(pod)) {
      await client.patchStatus(PODS, key, { type: 'strategic', body: { metadata: { uid }, status: { conditions: [disrupted] } } });
    }
    await client.delete(PODS, key, { uid });
    log.info('pod evicted by a taint', { pod: `${key.namespace}/${key.name}`, node: pod.spec.nodeName });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
