import type { KubeObject, Pod } from '../../../../../shared/api/kubernetes.ts';
import { PODS, type Resource } from '../../../../../shared/api/resources.ts';
import { createControlPlane } from '../../../../../shared/controlplane/control-plane.ts';
import type { Controller, ControllerDeps } from '../../../../../shared/controlplane/controllers/controllers.ts';
import { isNotFound } from '../../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../../shared/kube/kube-client.ts';
import type { Transport } from '../../../../../shared/kube/transport.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

export type EmbeddedCluster = {
  readonly client: KubeClient;
  /** A way to its API server. */
  readonly transport: () => Transport;
  readonly clock: FakeClock;
  readonly deps: ControllerDeps;
  /** Runs a controller; the returned function stops it and waits for its end. */
  start(controller: Controller): Promise<() => Promise<void>>;
  /** The object, or undefined when there is none. */
  find<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined>;
  close(): Promise<void>;
};

/** An API server in this process, with time that the test moves and no controllers but those it starts. */
export async function anEmbeddedCluster(): Promise<EmbeddedCluster> {
  const clock = new FakeClock();
  const random = seededRandom(7);
  const plane = await createControlPlane({ clock, random, log: silentLogger });
  const client = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  const stops: (() => Promise<void>)[] = [];
  return {
    client,
    transport: () => plane.transport(),
    clock,
    deps: { client, clock, random, log: silentLogger },
    async start(controller) {
      const stopping = new AbortController();
      const running = controller.run(stopping.signal);
      let stopped = false;
      const stop = async (): Promise<void> => {
        if (stopped) return;
        stopped = true;
        stopping.abort(new Error('the test stops it'));
        await clock.advance(2000);
        await running;
      };
      stops.push(stop);
      await clock.advance(1000);
      return stop;
    },
    async find(resource, name, namespace = resource.namespaced ? 'default' : '') {
      try {
        return await client.get(resource, { namespace, name });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async close() {
      for (const stop of stops) await stop();
      await plane.close();
    },
  };
}

/** Creates a pod that does nothing but exist, unless told otherwise. */
export function createPod(
  client: KubeClient,
  name: string,
  { spec = {}, metadata = {} }: { spec?: Partial<Pod['spec']>; metadata?: Partial<Pod['metadata']> } = {},
): Promise<Pod> {
  const containers = [{ name: 'main', image: 'none' }];
  return client.create(PODS, {
    metadata: { name, namespace: 'default', ...metadata },
    spec: { restartPolicy: 'Never', containers, ...spec },
  });
}
