import type { ResourceDefinition, ResourceStrategy, ResourceView } from '../resources/strategy.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import { configMapStrategy } from './config-map.ts';
import { cronJobStrategy } from './cron-job.ts';
import { csiDriverStrategy } from './csi-driver.ts';
import { csiNodeStrategy } from './csi-node.ts';
import { csiStorageCapacityStrategy } from './csi-storage-capacity.ts';
import { deploymentStrategy } from './deployment.ts';
import { eventView } from './event-view.ts';
import { eventStrategy, newEventStrategy } from './event.ts';
import { jobStrategy } from './job-strategy.ts';
import { leaseStrategy } from './lease.ts';
import { limitRangeStrategy } from './limit-range.ts';
import { namespaceStrategy } from './namespace.ts';
import { networkPolicyStrategy } from './network-policy.ts';
import { nodeStrategy } from './node.ts';
import { persistentVolumeClaimStrategy } from './persistent-volume-claim.ts';
import { persistentVolumeStrategy } from './persistent-volume.ts';
import { podDisruptionBudgetStrategy } from './pod-disruption-budget.ts';
import { podStrategy } from './pod-strategy.ts';
import { priorityClassStrategy } from './priority-class.ts';
import { replicaSetStrategy } from './replica-set.ts';
import { replicationControllerStrategy } from './replication-controller.ts';
import { runtimeClassStrategy } from './runtime-class.ts';
import { resourceQuotaStrategy } from './resource-quota.ts';
import { secretStrategy } from './secret.ts';
import { serviceAccountStrategy } from './service-account.ts';
import { serviceStrategy } from './service.ts';
import { statefulSetStrategy } from './stateful-set.ts';
import { storageClassStrategy } from './storage-class.ts';
import { volumeAttachmentStrategy } from './volume-attachment.ts';

type Description = {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly clusterScoped?: true;
  readonly strategy: ResourceStrategy;
  readonly view?: ResourceView;
};

const resource = (description: Description): ResourceDefinition => ({
  group: description.group ?? '',
  version: description.version ?? 'v1',
  plural: description.plural,
  singular: description.kind.toLowerCase(),
  kind: description.kind,
  listKind: `${description.kind}List`,
  shortNames: description.shortNames ?? [],
  categories: description.categories ?? [],
  namespaced: description.clusterScoped !== true,
  strategy: description.strategy,
  ...omitUndefined({ view: description.view }),
});

/** The kinds that exist without any CustomResourceDefinition, apart from those of authorization and extension. */
export const BUILT_IN_RESOURCES: readonly ResourceDefinition[] = [
  resource({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], strategy: configMapStrategy }),
  resource({ kind: 'Event', plural: 'events', shortNames: ['ev'], strategy: eventStrategy }),
  resource({ kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], strategy: limitRangeStrategy }),
  resource({ kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'], clusterScoped: true, strategy: namespaceStrategy }),
  resource({ kind: 'Node', plural: 'nodes', shortNames: ['no'], clusterScoped: true, strategy: nodeStrategy }),
  resource({
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    shortNames: ['pv'],
    clusterScoped: true,
    strategy: persistentVolumeStrategy,
  }),
  resource({
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    strategy: persistentVolumeClaimStrategy,
  }),
  resource({ kind: 'Pod', plural: 'pods', shortNames: ['po'], categories: ['all'], strategy: podStrategy }),
  resource({
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    shortNames: ['rc'],
    categories: ['all'],
    strategy: replicationControllerStrategy,
  }),
  resource({ kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'], strategy: resourceQuotaStrategy }),
  resource({ kind: 'Secret', plural: 'secrets', strategy: secretStrategy }),
  resource({ kind: 'Service', plural: 'services', shortNames: ['svc'], categories: ['all'], strategy: serviceStrategy }),
  resource({ kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], strategy: serviceAccountStrategy }),
  resource({
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    strategy: deploymentStrategy,
  }),
  resource({
    group: 'apps',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    strategy: replicaSetStrategy,
  }),
  resource({
    group: 'apps',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    strategy: statefulSetStrategy,
  }),
  resource({ group: 'batch', kind: 'CronJob', plural: 'cronjobs', shortNames: ['cj'], categories: ['all'], strategy: cronJobStrategy }),
  resource({ group: 'batch', kind: 'Job', plural: 'jobs', categories: ['all'], strategy: jobStrategy }),
  resource({ group: 'coordination.k8s.io', kind: 'Lease', plural: 'leases', strategy: leaseStrategy }),
  resource({ group: 'events.k8s.io', kind: 'Event', plural: 'events', shortNames: ['ev'], strategy: newEventStrategy, view: eventView }),
  resource({
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    strategy: networkPolicyStrategy,
  }),
  resource({ group: 'node.k8s.io', kind: 'RuntimeClass', plural: 'runtimeclasses', clusterScoped: true, strategy: runtimeClassStrategy }),
  resource({
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    strategy: podDisruptionBudgetStrategy,
  }),
  resource({
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    shortNames: ['pc'],
    clusterScoped: true,
    strategy: priorityClassStrategy,
  }),
  resource({ group: 'storage.k8s.io', kind: 'CSIDriver', plural: 'csidrivers', clusterScoped: true, strategy: csiDriverStrategy }),
  resource({ group: 'storage.k8s.io', kind: 'CSINode', plural: 'csinodes', clusterScoped: true, strategy: csiNodeStrategy }),
  resource({ group: 'storage.k8s.io', kind: 'CSIStorageCapacity', plural: 'csistoragecapacities', strategy: csiStorageCapacityStrategy }),
  resource({
    group: 'storage.k8s.io',
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    clusterScoped: true,
    strategy: storageClassStrategy,
  }),
  resource({
    group: 'storage.k8s.io',
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    clusterScoped: true,
    strategy: volumeAttachmentStrategy,
  }),
];
