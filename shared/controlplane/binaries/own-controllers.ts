import { type ControllersOptions, startControllers } from '../controllers/controller-processes.ts';
import { createPodLogs } from '../subresources/pod-log.ts';
import { createKubeClient } from '../../kube/kube-client.ts';
import type { Transport } from '../../kube/transport.ts';
import { startKubeletServer } from './kubelet-server.ts';

/** Runs controllers of ours beside a real API server until stopped; the node agent also answers when that asks it for logs. */
export async function startOwnControllers(options: ControllersOptions, transport: Transport): Promise<{ stop(): Promise<void> }> {
  const logs = createPodLogs();
  if (options.controllers?.includes('node-agent') !== true) return startControllers(options, transport, logs);
  const client = createKubeClient(transport, { userAgent: 'kubelet', clock: options.clock });
  const kubelet = await startKubeletServer(client, logs);
  const running = startControllers({ ...options, kubeletPort: kubelet.port }, transport, logs);
  return {
    stop: async () => {
      await running.stop();
      await kubelet.close();
    },
  };
}
