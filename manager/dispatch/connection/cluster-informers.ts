import type { DeepReadonly, Node, WorkObject } from '../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { NODES } from '../../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../shared/kube/informer.ts';
import { createObjectBudget, type ObjectBudget } from '../../../shared/kube/object-budget.ts';
import type { ReadClient, WatchClient } from '../../../shared/kube/client.ts';
import { essentialsOfNode } from '../cluster/node-capacity.ts';
import { localKeyOfCopy } from '../../work-kind/copy-marks.ts';
import { createInformerOfKinds } from '../../work-kind/informer-of-kinds.ts';
import { essentialsOfAny } from '../listing/copies-by-template.ts';
import { createInformerOfServed, type InformerOfServed, servedBy, type Served } from './informer-of-served.ts';
import { createServedKinds, type ServedKinds } from './served-kinds.ts';
import type { RemoteClusterOptions } from './remote-cluster-contract.ts';

/** The informers of a worker cluster: they cache essentials of each object, within the memory bound of the cluster. */
export type ClusterInformers = {
  /** The copies of this manager, by the keys of their Jobs in the index `COPIES_BY_LOCAL_KEY`. */
  readonly copies: Informer<WorkObject>;
  readonly served: Served;
  /** Creates an informer of all work for a single list, which finds copies that have lost their label. */
  readonly allJobs: () => Informer<WorkObject>;
  readonly nodes: Informer<Node>;
};

export const COPIES_BY_LOCAL_KEY = 'localKey';

export function createClusterInformers(
  { kind, client, clock, random, log, origin, local, servedNamespaces, memoryBytes }: RemoteClusterOptions,
  watching: Required<Pick<InformerOptions<WorkObject>, 'onFault' | 'onWentBack' | 'onRestart'>> & {
    readonly budget: ObjectBudget;
    /** A namespace of copies can be read no longer, or again. */
    readonly onReadable: () => void;
    /** The cluster serves a kind of work, or does no longer. */
    readonly onKindsChanged: () => void;
  },
): ClusterInformers {
  const basics = { clock, random, log };
  const { budget, onFault, onWentBack, onRestart, onReadable, onKindsChanged } = watching;
  const kinds = createServedKinds(kind.others, clock, onKindsChanged);
  const nothing = (): void => undefined;
  /** One informer over all kinds, and those of each kind. */
  const ofAllKinds = (
    more: Partial<InformerOptions<WorkObject>>,
    served: ServedKinds,
    onChanged: () => void,
  ): { readonly all: Informer<WorkObject>; readonly parts: readonly (Informer<WorkObject> | InformerOfServed<WorkObject>)[] } => {
    const parts: (Informer<WorkObject> | InformerOfServed<WorkObject>)[] = [];
    const all = createInformerOfKinds(kind, ({ resource }) => {
      const every = { ...basics, resource, onRestart, transform: (copy: WorkObject) => kind.copies.essentials(copy, local), ...more };
      const from = resource === kind.resource ? client : served.noting(resource, client, servedNamespaces !== undefined);
      const inOne = (namespace: string, noting: ReadClient & WatchClient): Informer<WorkObject> =>
        createInformer({ ...every, client: noting, namespace });
      const part =
        servedNamespaces === undefined
          ? createInformer({ ...every, client: from })
          : createInformerOfServed(resource, servedNamespaces, from, inOne, onChanged);
      parts.push(part);
      return part;
    });
    return { all, parts };
  };
  const indexers = { [COPIES_BY_LOCAL_KEY]: (copy: DeepReadonly<WorkObject>) => [localKeyOfCopy(copy)] };
  const transform = (job: WorkObject): WorkObject => essentialsOfAny(kind, job, origin, local);
  const mine = { labelSelector: `${ORIGIN_LABEL}=${origin}`, budget, onFault, indexers, onWentBack };
  const copies = ofAllKinds(mine, kinds, onReadable);
  return {
    copies: copies.all,
    served: servedBy(copies.all, copies.parts, servedNamespaces, kinds),
    allJobs() {
      const fresh = createServedKinds(kind.others, clock, nothing);
      return ofAllKinds({ transform, budget: createObjectBudget(memoryBytes), onFault: nothing }, fresh, nothing).all;
    },
    nodes: createInformer({ ...basics, client, ...watching, resource: NODES, transform: essentialsOfNode }),
  };
}
