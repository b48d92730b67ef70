import { customResourceDefinition } from '../../manager/api/kind-definition.ts';
import { SWITCHYARD_KINDS } from '../../manager/api/kinds.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';

/** What the files of the chart say, without the detour over YAML. */
export const CRDS: readonly object[] = SWITCHYARD_KINDS.map(customResourceDefinition);

/** Makes the manager's kinds known to an API server. */
export async function createCrds(client: KubeClient): Promise<void> {
  for (const crd of CRDS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd as never);
}
