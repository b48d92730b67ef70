import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createKubeClient } from '../../kube/kube-client.ts';
import type { Transport } from '../../kube/transport.ts';
import type { ControlPlaneOptions } from '../control-plane.ts';
import { createControllers } from './start-controllers.ts';
import type { PodLogs } from '../subresources/pod-log.ts';

/** Runs the controllers that the options name, until stopped. */
export function startControllers(options: ControlPlaneOptions, transport: Transport, podLogs: PodLogs): { stop(): Promise<void> } {
  const { clock, random, log, controllers = [] } = options;
  if (controllers.length === 0) return { stop: async () => undefined };
  const directory = controllers.includes('node-agent') ? nodeDirectory(options) : undefined;
  const client = createKubeClient(transport, { userAgent: 'kube-controller-manager', clock });
  const nodeAgent =
    directory === undefined
      ? undefined
      : { directory: directory.path, logs: podLogs, ...(options.nodes === undefined ? {} : { nodes: options.nodes }) };
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

function nodeDirectory({ nodeDir, dataDir }: ControlPlaneOptions): { readonly path: string; readonly temporary: boolean } {
  if (nodeDir !== undefined) return { path: nodeDir, temporary: false };
  if (dataDir !== undefined) return { path: path.join(dataDir, 'nodes'), temporary: false };
  return { path: mkdtempSync(path.join(tmpdir(), 'control-plane-')), temporary: true };
}
