import type { DeepReadonly, Job, Node } from '../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { JOBS, NODES } from '../../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../shared/kube/informer.ts';
import { createObjectBudget, type ObjectBudget } from '../../../shared/kube/object-budget.ts';
import { PRIORITY_CLASSES, type PriorityClass } from '../../api/priority-class.ts';
import { essentialsOfPriorityClass } from '../cluster/priority-classes.ts';
import { essentialsOfNode } from '../cluster/node-capacity.ts';
import { essentialsOfCopy } from '../copy/copy-essentials.ts';
import { localKeyOfCopy } from '../copy/copy-marks.ts';
import { essentialsOfAny } from './copies-by-template.ts';
import { createInformerOfServed, type InformerOfServed, servedBy, type Served } from './informer-of-served.ts';
import type { RemoteClusterOptions } from './remote-cluster-contract.ts';

/** The informers of a worker cluster: they cache essentials of each object, within the memory bound of the cluster. */
export type ClusterInformers = {
  /** The copies of this manager, by the keys of their Jobs in the index `COPIES_BY_LOCAL_KEY`. */
  readonly copies: Informer<Job>;
  readonly served: Served;
  /** Creates an informer of all Jobs for a single list, which finds copies that have lost their label. */
  readonly allJobs: () => Informer<Job>;
  readonly nodes: Informer<Node>;
  readonly classes: Informer<PriorityClass>;
};

export const COPIES_BY_LOCAL_KEY = 'localKey';

export function createClusterInformers(
  { client, clock, random, log, origin, local, servedNamespaces, memoryBytes }: RemoteClusterOptions,
  watching: Required<Pick<InformerOptions<Job>, 'onFault' | 'onWentBack' | 'onRestart'>> & {
    readonly budget: ObjectBudget;
    /** A namespace of copies can be read no longer, or again. */
    readonly onReadable: () => void;
  },
): ClusterInformers {
  const basics = { client, clock, random, log };
  const { budget, onFault, onWentBack, onRestart, onReadable } = watching;
  const jobs = (more: Partial<InformerOptions<Job>>, onChanged: () => void): Informer<Job> | InformerOfServed<Job> => {
    const every = { ...basics, resource: JOBS, onRestart, transform: (copy: Job) => essentialsOfCopy(copy, local), ...more };
    if (servedNamespaces === undefined) return createInformer(every);
    const inOne = (namespace: string, noting: typeof every.client): Informer<Job> =>
      createInformer({ ...every, client: noting, namespace });
    return createInformerOfServed(JOBS, servedNamespaces, client, inOne, onChanged);
  };
  const indexers = { [COPIES_BY_LOCAL_KEY]: (copy: DeepReadonly<Job>) => [localKeyOfCopy(copy)] };
  const transform = (job: Job): Job => essentialsOfAny(job, origin, local);
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
