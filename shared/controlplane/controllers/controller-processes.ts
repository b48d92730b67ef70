import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createKubeClient } from '../../kube/kube-client.ts';
import type { Transport } from '../../kube/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { ControlPlaneController } from './controllers.ts';
import type { NodeShape } from './node-agent/node-status.ts';
import { createControllers } from './start-controllers.ts';
import type { PodLogs } from '../subresources/pod-log.ts';

export type ControllersOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly controllers?: readonly ControlPlaneController[];
  /** The nodes that the node agent is; default: one, `node-1`. */
  readonly nodes?: readonly NodeShape[];
  /** Where the node agent keeps logs and working directories; default: below `dataDir`, else a temporary directory that goes at the end. */
  readonly nodeDir?: string;
  /** Where the node agent answers an API server that asks it for logs; absent: it is asked in this process. */
  readonly kubeletPort?: number;
  /** Where the control plane keeps its objects, if anywhere. */
  readonly dataDir?: string;
};

/** Runs the controllers that the options name, until stopped. */
export function startControllers(options: ControllersOptions, transport: Transport, podLogs: PodLogs): { stop(): Promise<void> } {
  const { clock, random, log, controllers = [] } = options;
  if (controllers.length === 0) return { stop: async () => undefined };
  const directory = controllers.includes('node-agent') ? nodeDirectory(options) : undefined;
  const client = createKubeClient(transport, { userAgent: 'kube-controller-manager', clock });
  const { nodes, kubeletPort } = options;
  const nodeAgent =
    directory === undefined ? undefined : { directory: directory.path, logs: podLogs, ...omitUndefined({ nodes, kubeletPort }) };
  const stopping = new AbortController();
  const running = createControllers(controllers, { client, clock, random, log }, nodeAgent)
    .run(stopping.signal)
    .catch((error: unknown) => log.error('controllers ended', { error }));
  return {
    stop: async () => {
      stopping.abort(new Error('the control plane is closing'));
      await running;
      if (directory?.temporary === true) rmSync(directory.path, { recursive: true, force: true });
    },
  };
}

function nodeDirectory({ nodeDir, dataDir }: ControllersOptions): { readonly path: string; readonly temporary: boolean } {
  if (nodeDir !== undefined) return { path: nodeDir, temporary: false };
  if (dataDir !== undefined) return { path: path.join(dataDir, 'nodes'), temporary: false };
  return { path: mkdtempSync(path.join(tmpdir(), 'control-plane-')), temporary: true };
}
