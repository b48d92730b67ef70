import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { ResourceFlavor } from '../api/resource-flavor.ts';

/** How to create the copy of a Job. */
export type CopyOptions = {
  /** Id of this manager, the value of the origin label. */
  readonly origin: string;
  /** Number of the placement the copy belongs to. */
  readonly epoch: number;
  /** Name of the controller that is to run the copy; for the built-in one `managedBy` is omitted. */
  readonly jobController: string;
  /** True for the manager cluster itself: the copy then needs a name of its own. */
  readonly local: boolean;
  /** Flavors of the admission: their node labels and tolerations go into the pod template. */
  readonly flavors: readonly DeepReadonly<ResourceFlavor>[];
  /** Flavors by the name of a pod set; a pod set that is absent has {@link flavors}. */
  readonly podSetFlavors?: ReadonlyMap<string, readonly DeepReadonly<ResourceFlavor>[]>;
  /** The worker stops the copy when the manager is out of reach; absent: true. */
  readonly fenced?: boolean;
  /** Absent: no traces are exported, and containers get the trace context of the Job's submitter, where the Job asks for it. */
  readonly tracing?: Tracing;
  /** Pods end by themselves when their renewals stop; absent: they do not. */
  readonly podFence?: PodFence;
};

/** `ratio`: the share of Jobs that is traced. `pods`: containers get the trace context, unless a Job says otherwise. */
export type Tracing = { readonly ratio: number; readonly pods: boolean };

export type PodFence = {
  /** An image with `node` on its path. */
  readonly image: string;
  /** Seconds after the last renewal seen until a pod counts as cut off. */
  readonly afterSeconds: number;
};
