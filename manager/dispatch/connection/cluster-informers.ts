import type { DeepReadonly, Node, WorkObject } from '../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { NODES } from '../../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../shared/kube/informer.ts';
import { createObjectBudget, type ObjectBudget } from '../../../shared/kube/object-budget.ts';
import { PRIORITY_CLASSES, type PriorityClass } from '../../api/priority-class.ts';
import { essentialsOfPriorityClass } from '../cluster/priority-classes.ts';
import { essentialsOfNode } from '../cluster/node-capacity.ts';
import { localKeyOfCopy } from '../../work-kind/copy-marks.ts';
import { essentialsOfAny } from './copies-by-template.ts';
import { createInformerOfServed, type InformerOfServed, servedBy, type Served } from './informer-of-served.ts';
import type { RemoteClusterOptions } from './remote-cluster-contract.ts';

/** The informers of a worker cluster: they cache essentials of each object, within the memory bound of the cluster. */
export type ClusterInformers = {
  /** The copies of this manager, by the keys of their Jobs in the index `COPIES_BY_LOCAL_KEY`. */
  readonly copies: Informer<WorkObject>;
  readonly served: Served;
  /** Creates an informer of all Jobs for a single list, which finds copies that have lost their label. */
  readonly allJobs: () => Informer<WorkObject>;
  readonly nodes: Informer<Node>;
  readonly classes: Informer<PriorityClass>;
};

export const COPIES_BY_LOCAL_KEY = 'localKey';

export function createClusterInformers(
  { kind, client, clock, random, log, origin, local, servedNamespaces, memoryBytes }: RemoteClusterOptions,
  watching: Required<Pick<InformerOptions<WorkObject>, 'onFault' | 'onWentBack' | 'onRestart'>> & {
    readonly budget: ObjectBudget;
    /** A namespace of copies can be read no longer, or again. */
    readonly onReadable: () => void;
  },
): ClusterInformers {
  const basics = { client, clock, random, log };
  const { budget, onFault, onWentBack, onRestart, onReadable } = watching;
  const jobs = (more: Partial<InformerOptions<WorkObject>>, onChanged: () => void): Informer<WorkObject> | InformerOfServed<WorkObject> => {
    const every = {
      ...basics,
      resource: kind.resource,
      onRestart,
      transform: (copy: WorkObject) => kind.copies.essentials(copy, local),
      ...more,
    };
    if (servedNamespaces === undefined) return createInformer(every);
    const inOne = (namespace: string, noting: typeof every.client): Informer<WorkObject> =>
      createInformer({ ...every, client: noting, namespace });
    return createInformerOfServed(kind.resource, servedNamespaces, client, inOne, onChanged);
  };
  const indexers = { [COPIES_BY_LOCAL_KEY]: (copy: DeepReadonly<WorkObject>) => [localKeyOfCopy(copy)] };
  const transform = (job: WorkObject): WorkObject => essentialsOfAny(kind, job, origin, local);
  const copies = jobs({ labelSelector: `${ORIGIN_LABEL}=${origin}`, budget, onFault, indexers, onWentBack }, onReadable);
  const nothing = (): void => undefined;
  return {
    copies,
    served: servedBy(copies, servedNamespaces),
    allJobs: () => jobs({ transform, budget: createObjectBudget(memoryBytes), onFault: nothing }, nothing),
    nodes: createInformer({ ...basics, ...watching, resource: NODES, transform: essentialsOfNode }),
    classes: createInformer({ ...basics, ...watching, resource: PRIORITY_CLASSES, transform: essentialsOfPriorityClass }),
  };
}
