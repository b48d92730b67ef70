import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from './fake-clock.ts';
import { withKinds } from './stored-kinds.ts';

/** An API server that knows our kinds, with nothing else in it. */
export async function createKindsPlane(): Promise<{ readonly client: KubeClient; readonly close: () => Promise<void> }> {
  const clock = new FakeClock();
  const plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger, persistence: withKinds() });
  const client = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  return { client, close: () => plane.close() };
}
