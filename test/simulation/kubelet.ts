/** The node under a simulated cluster: binds pods, starts them, and lets them end as the dice fall. */
import type { Pod, PodStatus } from '../../shared/api/kubernetes.ts';
import { PODS } from '../../shared/api/resources.ts';
import { isConflict, isInvalid, isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Dice } from './dice.ts';
import { hasEnded } from '../support/invariants/invariant.ts';
import { FATAL_EXIT, IGNORED_EXIT, INDEX_EXIT } from './random-job.ts';

export const NODE = 'node-1';

export type Kubelet = {
  /** Looks at all pods once. Each moves with probability `pace`, and one that ends fails with probability `failures`. */
  run(pods: Iterable<Pod>, pace: number, failures: number): Promise<void>;
  /** Takes away the pods whose grace period is over: a kubelet is never late with that. */
  killOverdue(pods: Iterable<Pod>): Promise<void>;
  /** Share of the pods that succeed although they were told to stop. */
  successes: number;
};

/** `node` is the name of the node that there is now; undefined: there is none, and nothing moves. */
export function createKubelet(
  client: KubeClient,
  clock: Clock,
  dice: Dice,
  trace: (line: string) => void,
  node: () => string | undefined = () => NODE,
): Kubelet {
  /** What a node that is gone had does not move any more. */
  const isOurs = ({ spec: { nodeName = '' } }: Pod): boolean => node() !== undefined && (nodeName === '' || nodeName === node());
  const kubelet: Kubelet = {
    successes: 0.2,
    async run(pods, pace, failures) {
      for (const pod of pods) if (isOurs(pod) && dice.chance(pace)) await move(pod, failures);
    },
    async killOverdue(pods) {
      for (const pod of pods) {
        const { deletionTimestamp } = pod.metadata;
        // The server's timestamp of a deletion says when the grace period ends.
        if (deletionTimestamp === undefined || Date.parse(deletionTimestamp) > clock.now() || !isOurs(pod)) continue;
        if (!hasEnded(pod) || (pod.metadata.deletionGracePeriodSeconds ?? 0) > 0) await move(pod, 0);
      }
    },
  };
  return kubelet;

  async function move(pod: Pod, failures: number): Promise<void> {
    const phase = pod.status?.phase ?? 'Pending';
    const isOver = hasEnded(pod);
    try {
      if (pod.metadata.deletionTimestamp !== undefined) await carryAway(pod, isOver);
      else if (isOver) return;
      else if (!pod.spec.nodeName) await bind(pod);
      else if (phase === 'Pending') await start(pod, failures);
      else await requeueRest(pod, failures);
    } catch (error) {
      // Somebody else was faster; the next look shows what there is now.
      if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
    }
  }

  /** A pod that is being deleted ends, mostly killed, and then its grace period is over. One without a node is not ours. */
  async function carryAway(pod: Pod, isOver: boolean): Promise<void> {
    if (!pod.spec.nodeName) return;
    if (!isOver) return setStatus(pod, dice.chance(kubelet.successes) ? ended(pod, 'Succeeded', 0) : ended(pod, 'Failed', 137));
    if ((pod.metadata.deletionGracePeriodSeconds ?? 0) === 0) return;
    const { namespace, name, uid } = pod.metadata;
    await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, uid });
  }

  async function bind({ metadata: { namespace, name } }: Pod): Promise<void> {
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: node() } };
    await client.raw({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body: binding });
  }

  async function start(pod: Pod, failures: number): Promise<void> {
    if (dice.chance(failures / 4)) return end(pod, failures);
    await setStatus(pod, { phase: 'Running', conditions: [ready(dice.chance(0.5))], containerStatuses: [running(0)] });
  }

  async function requeueRest(pod: Pod, failures: number): Promise<void> {
    if (pod.spec.restartPolicy === 'OnFailure' && dice.chance(failures / 2)) {
      const restarts = pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
      return setStatus(pod, { containerStatuses: [running(restarts + 1)] });
    }
    if (dice.chance(0.2)) return setStatus(pod, { conditions: [ready(dice.chance(0.7))] });
    await end(pod, failures);
  }

  async function end(pod: Pod, failures: number): Promise<void> {
    if (!dice.chance(failures)) return setStatus(pod, ended(pod, 'Succeeded', 0));
    await setStatus(pod, ended(pod, 'Failed', dice.pick([1, 2, IGNORED_EXIT, IGNORED_EXIT, FATAL_EXIT, INDEX_EXIT])));
  }

  function ended(pod: Pod, phase: 'Succeeded' | 'Failed', exitCode: number): PodStatus {
    const restartCount = pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
    // Now and then a node says only how the pod ended.
    if (dice.chance(0.1)) return { phase };
    const terminated = { exitCode, finishedAt: toWireTime(clock.now()) };
    return { phase, conditions: [ready(false)], containerStatuses: [{ ...running(restartCount), state: { terminated } }] };
  }

  function ready(isReady: boolean): NonNullable<PodStatus['conditions']>[number] {
    return { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: toWireTime(clock.now()) };
  }

  async function setStatus({ metadata: { namespace, name, uid } }: Pod, status: PodStatus): Promise<void> {
    trace(`kubelet: ${name} ${status.phase ?? 'on'} ${status.containerStatuses?.[0]?.state?.terminated?.exitCode ?? ''}`);
    await client.patchStatus(PODS, { namespace, name }, { type: 'strategic', body: { metadata: { uid }, status } });
  }
}

const running = (restartCount: number) => ({ name: 'main', image: 'busybox', imageID: 'sha', ready: true, restartCount });
