import type { ControlPlaneController } from './controllers.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { createCronJobController } from './cron-job.ts';
import { createDeploymentController } from './deployment.ts';
import { createReplicaSetController } from './replica-set.ts';
import { createGarbageCollector } from './garbage-collector.ts';
import { createNamespaceController } from './namespace-controller.ts';
import { createNodeAgent, type NodeAgentOptions } from './node-agent.ts';
import { createPodGc } from './pod-gc.ts';
import { createTaintEviction } from './taint-eviction.ts';

/** The named controllers as one. `nodeAgent` is needed where `node-agent` is among them. */
export function createControllers(
  names: readonly ControlPlaneController[],
  deps: ControllerDeps,
  nodeAgent: NodeAgentOptions | undefined,
): Controller {
  const controllers = [...new Set(names)].map((name) =>
    createController(name, { ...deps, log: deps.log.with({ controller: name }) }, nodeAgent),
  );
  return {
    run: async (signal) => {
      await Promise.all(controllers.map((controller) => controller.run(signal)));
    },
  };
}

function createController(name: ControlPlaneController, deps: ControllerDeps, nodeAgent: NodeAgentOptions | undefined): Controller {
  switch (name) {
    case 'garbage-collector':
      return createGarbageCollector(deps);
    case 'namespace':
      return createNamespaceController(deps);
    case 'pod-gc':
      return createPodGc(deps);
    case 'taint-eviction':
      return createTaintEviction(deps);
    case 'cron-job':
      return createCronJobController(deps);
    case 'deployment':
      return createDeploymentController(deps);
    case 'replica-set':
      return createReplicaSetController(deps);
    case 'node-agent':
      if (nodeAgent === undefined) throw new Error('the node agent needs a directory for the logs of its containers');
      return createNodeAgent(deps, nodeAgent);
  }
}
