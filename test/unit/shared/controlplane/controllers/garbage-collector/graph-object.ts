import { CONFIG_MAPS } from '../../../../../../shared/api/resources.ts';
import type { GraphObject } from '../../../../../../shared/controlplane/controllers/garbage-collector/owner-graph.ts';

/** An object as the garbage collector knows it; `owners` are UIDs, and names too. */
export const graphObject = (
  uid: string,
  more: {
    readonly owners?: readonly string[];
    readonly blocking?: boolean;
    readonly deleting?: boolean;
    readonly finalizers?: readonly string[];
  } = {},
): GraphObject => ({
  uid,
  resource: CONFIG_MAPS,
  namespace: 'default',
  name: uid,
  resourceVersion: '1',
  owners: (more.owners ?? []).map((owner) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: owner,
    uid: owner,
    ...(more.blocking === true ? { blockOwnerDeletion: true } : {}),
  })),
  deleting: more.deleting ?? false,
  finalizers: more.finalizers ?? [],
});
