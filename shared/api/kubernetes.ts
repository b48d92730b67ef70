/**
 * Kubernetes objects as they stand on the wire: JSON with RFC 3339 strings for times.
 * The shapes come from @kubernetes/client-node, types only; its serializers are never used,
 * because they drop every field newer than their own models.
 */
import type {
  V1Container,
  V1ContainerStatus,
  V1CronJobSpec,
  V1DeploymentSpec,
  V1DeploymentStatus,
  V1ReplicaSetSpec,
  V1ReplicaSetStatus,
  V1CronJobStatus,
  V1JobCondition,
  V1JobSpec,
  V1JobStatus,
  V1OwnerReference,
  V1Namespace,
  V1Node,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1PodTemplateSpec,
  V1Secret,
  V1PodFailurePolicy,
  V1SuccessPolicy,
  V1UncountedTerminatedPods,
  V1LabelSelector,
} from '@kubernetes/client-node';

/** A client-node model as JSON carries it. */
export type Wire<T> = T extends Date ? string : T extends (infer U)[] ? Wire<U>[] : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;

/** The same value, read only at every depth. Objects in a cache have this type: nobody may write to them. */
export type DeepReadonly<T> = T extends (infer U)[]
  ? readonly DeepReadonly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Identity of an object within one resource. `namespace` is '' for cluster-scoped objects. */
export type ObjectKey = { readonly namespace: string; readonly name: string };

/** Metadata of an object that an API server has stored. */
export type ObjectMeta = {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  generateName?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  managedFields?: unknown[];
};
/** Metadata of a namespaced object. */
export type NamespacedMeta = ObjectMeta & { namespace: string };

export type KubeObject = { apiVersion?: string; kind?: string; metadata: ObjectMeta };
/** An object on its way to being created: the server fills in the rest of the metadata. */
export type Unsaved<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & { metadata: Partial<T['metadata']>; status?: unknown };

export type OwnerReference = Wire<V1OwnerReference>;
export type LabelSelector = Wire<V1LabelSelector>;
export type Container = Wire<V1Container>;
export type ContainerStatus = Wire<V1ContainerStatus>;
export type PodSpec = Wire<V1PodSpec>;
export type PodStatus = Wire<V1PodStatus>;
export type PodCondition = Wire<V1PodCondition>;
export type PodTemplateSpec = Wire<V1PodTemplateSpec>;
export type PodFailurePolicy = Wire<V1PodFailurePolicy>;
export type SuccessPolicy = Wire<V1SuccessPolicy>;
export type UncountedTerminatedPods = Wire<V1UncountedTerminatedPods>;
export type JobSpec = Wire<V1JobSpec>;
export type JobStatus = Wire<V1JobStatus>;
export type JobCondition = Wire<V1JobCondition>;

export type DeploymentSpec = Wire<V1DeploymentSpec>;
export type DeploymentStatus = Wire<V1DeploymentStatus>;
export type Deployment = { apiVersion?: string; kind?: string; metadata: NamespacedMeta; spec: DeploymentSpec; status?: DeploymentStatus };
export type ReplicaSetSpec = Wire<V1ReplicaSetSpec>;
export type ReplicaSetStatus = Wire<V1ReplicaSetStatus>;
export type ReplicaSet = { apiVersion?: string; kind?: string; metadata: NamespacedMeta; spec: ReplicaSetSpec; status?: ReplicaSetStatus };

export type CronJobSpec = Wire<V1CronJobSpec>;
export type CronJobStatus = Wire<V1CronJobStatus>;

export type Job = { apiVersion?: string; kind?: string; metadata: NamespacedMeta; spec: JobSpec; status?: JobStatus };
/** An object of any kind of work, of which only its kind reads the spec, and more of the status than its conditions. */
export type WorkObject = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec: object;
  status?: WorkStatus;
};
export type WorkStatus = { conditions?: JobCondition[]; [field: string]: unknown };
export type CronJob = { apiVersion?: string; kind?: string; metadata: NamespacedMeta; spec: CronJobSpec; status?: CronJobStatus };
export type Pod = { apiVersion?: string; kind?: string; metadata: NamespacedMeta; spec: PodSpec; status?: PodStatus };
export type Namespace = Omit<Wire<V1Namespace>, 'metadata'> & { metadata: ObjectMeta };
export type Node = Omit<Wire<V1Node>, 'metadata'> & { metadata: ObjectMeta };
export type Secret = Omit<Wire<V1Secret>, 'metadata'> & { metadata: NamespacedMeta };
export type ConfigMap = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
};
export type Lease = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
};
/** core/v1 Event. */
export type CoreEvent = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  involvedObject: {
    apiVersion?: string;
    kind?: string;
    namespace?: string;
    name?: string;
    uid?: string;
    resourceVersion?: string;
    fieldPath?: string;
  };
  type?: string;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  count?: number;
  series?: { count?: number; lastObservedTime?: string | null };
  reportingComponent?: string;
  reportingInstance?: string;
};
