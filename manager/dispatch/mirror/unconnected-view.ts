import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { servesNamespace } from '../../api/served-namespaces.ts';
import type { WorkerClusterSpec } from '../../api/worker-cluster.ts';
import type { ClusterView, Contact } from './mirror-group.ts';

/** A WorkerCluster to which there is no connection, as a Job sees it. */
export function unconnectedView(spec: DeepReadonly<WorkerClusterSpec>, localKey: string, contact: Contact): ClusterView {
  const { jobController = WORKER_CONTROLLER_NAME, local = false, servedNamespaces } = spec;
  const isServed = servesNamespace(servedNamespaces, parseKey(localKey).namespace);
  const nothing = { problem: undefined, doubt: { kind: 'None' }, untouchedSinceMs: undefined } as const;
  return { contact: isServed ? contact : 'NotServed', jobController, local, ...nothing };
}
