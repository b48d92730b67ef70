/**
 * Many worker clusters in one process, each an embedded control plane with a node and somebody who reports every copy as complete as soon
 * as he sees it, and those named `stay-...` as running. `node worker-fleet-program.ts COUNT NAME` prints the kubeconfigs of NAME-0, NAME-1
 * and so on as one line of JSON.
 */
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES, NODES } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { systemClock as clock } from '../../shared/runtime/clock.ts';
import { silentLogger as log } from '../../shared/runtime/logger.ts';
import { announceWorker } from '../support/worker-presence.ts';
import { A_BIG_NODE, NAMESPACE } from './dispatch.ts';

/** Copies of such a name run for ever. */
const STAYS = 'stay-';

const [, , count, name] = process.argv;
const kubeconfigs: Record<string, string> = {};
for (let index = 0; index < Number(count); index++) kubeconfigs[`${name}-${index}`] = await startCluster();
console.log(JSON.stringify({ kubeconfigs }));

async function startCluster(): Promise<string> {
  const plane = await createControlPlane({ clock, random: Math.random, log, controllers: ['garbage-collector', 'namespace'] });
  const client = createKubeClient(plane.transport(), { userAgent: 'bench', clock });
  await client.create(NODES, { metadata: { name: 'node-1' }, spec: {} });
  await client.patchStatus(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { status: A_BIG_NODE } });
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await announceWorker(client, clock);
  reportCompletions(client);
  const { kubeconfig } = await plane.listen({ host: '127.0.0.1', port: 0, plain: false });
  return kubeconfig;
}

function reportCompletions(client: KubeClient): void {
  const copies = createInformer({ client, resource: JOBS, namespace: NAMESPACE, clock, random: Math.random, log });
  copies.addHandler({
    added: (copy) => {
      complete(client, copy).catch((error: unknown) => {
        throw error;
      });
    },
  });
  void copies.run(new AbortController().signal);
}

async function complete(client: KubeClient, copy: DeepReadonly<Job>): Promise<void> {
  if (isFinished(copy.status)) return;
  const now = toWireTime(clock.now());
  if (copy.metadata.name.startsWith(STAYS)) {
    const status = { active: 1, ready: 1, terminating: 0, uncountedTerminatedPods: {}, startTime: now };
    await client.patchStatus(JOBS, objectKey(copy), { type: 'merge', body: { status } });
    return;
  }
  const condition = (type: string): object => ({
    type,
    status: 'True',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
    lastTransitionTime: now,
    lastProbeTime: now,
  });
  const status = {
    active: 0,
    ready: 0,
    terminating: 0,
    succeeded: 1,
    uncountedTerminatedPods: {},
    startTime: now,
    completionTime: now,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
  await client.patchStatus(JOBS, objectKey(copy), { type: 'merge', body: { status } });
}
