import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';

/** The API server that recorded behaviour is asked of, with garbage collector and namespace controller beside it, in real time. */
export type ServerUnderTest = { readonly access: ClusterAccess; close(): Promise<void> };

export async function startServerUnderTest(): Promise<ServerUnderTest> {
  const plane = await createControlPlane({
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    controllers: ['garbage-collector', 'namespace'],
  });
  const { kubeconfig } = await plane.listen();
  return { access: accessFromKubeconfig({ kind: 'text', yaml: kubeconfig }, systemClock), close: () => plane.close() };
}
