/** Control planes on which the manager's kinds have been known for a while: they start from what such an API server has on its disk. */
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { Persistence } from '../../shared/controlplane/storage/persistence.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createCrds } from './crds.ts';
import { FakeClock } from './fake-clock.ts';
import { type Backup, createMemoryPersistence } from './memory-persistence.ts';

/**
 * The definitions of the manager's kinds as an API server has stored them, and nothing else. That the server takes them is found out
 * once for all worlds of a process: it judges every rule of every schema, which takes longer than all else a small world does at its start.
 */
export const STORED_KINDS: Backup = await storeKinds();

/** Of one control plane that starts with the manager's kinds. */
export const withKinds = (): Persistence => createMemoryPersistence(STORED_KINDS);

async function storeKinds(): Promise<Backup> {
  const clock = new FakeClock();
  const persistence = createMemoryPersistence();
  const plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger, persistence });
  await createCrds(createKubeClient(plane.transport(), { userAgent: 'test', clock }));
  await clock.settle();
  await plane.close();
  const { revision, objects } = persistence.backUp();
  // Without the namespaces, whose UIDs tell clusters apart.
  const isDefinition = ({ table }: { readonly table: string }): boolean => table === 'apiextensions.k8s.io/customresourcedefinitions';
  return { revision, objects: new Map([...objects].filter(([, object]) => isDefinition(object))) };
}
