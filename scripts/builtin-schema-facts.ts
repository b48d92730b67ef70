/**
 * What the generated models of @kubernetes/client-node do not tell about the built-in kinds: how lists merge, which
 * optional fields are plain Go values rather than pointers, and which strings are quantities.
 * Written down by hand from what is known of the types of k8s.io/api v0.36; there is no source here to generate it from.
 * It is checked against recorded answers of a kube-apiserver v1.36 (test/conformance), as far as those go.
 */

/** A list of names, several to a line. */
const words = (text: string): string[] => text.trim().split(/\s+/);

/** Kinds to be described: the model, and where the kind lives. */
export const ROOT_KINDS: readonly (readonly [model: string, group: string, version: string, kind: string])[] = [
  ...words(`
      Binding ConfigMap Endpoints LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod
      PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount
    `).map((kind) => [`V1${kind}`, '', 'v1', kind] as const),
  ['CoreV1Event', '', 'v1', 'Event'],
  ['EventsV1Event', 'events.k8s.io', 'v1', 'Event'],
  ...['CronJob', 'Job'].map((kind) => [`V1${kind}`, 'batch', 'v1', kind] as const),
  ...['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'].map(
    (kind) => [`V1${kind}`, 'apps', 'v1', kind] as const,
  ),
  ['V1Lease', 'coordination.k8s.io', 'v1', 'Lease'],
  ['V1RuntimeClass', 'node.k8s.io', 'v1', 'RuntimeClass'],
  ['V1NetworkPolicy', 'networking.k8s.io', 'v1', 'NetworkPolicy'],
  ['V1PodDisruptionBudget', 'policy', 'v1', 'PodDisruptionBudget'],
  ['V1Eviction', 'policy', 'v1', 'Eviction'],
  ['V1PriorityClass', 'scheduling.k8s.io', 'v1', 'PriorityClass'],
  ...['CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment'].map(
    (kind) => [`V1${kind}`, 'storage.k8s.io', 'v1', kind] as const,
  ),
  ['V1Scale', 'autoscaling', 'v1', 'Scale'],
  ['V1CustomResourceDefinition', 'apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
  ...words(`
    MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
  `).map((kind) => [`V1${kind}`, 'admissionregistration.k8s.io', 'v1', kind] as const),
  ...['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map(
    (kind) => [`V1${kind}`, 'rbac.authorization.k8s.io', 'v1', kind] as const,
  ),
  ...['LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'].map(
    (kind) => [`V1${kind}`, 'authorization.k8s.io', 'v1', kind] as const,
  ),
  ['AuthenticationV1TokenRequest', 'authentication.k8s.io', 'v1', 'TokenRequest'],
  ['V1SelfSubjectReview', 'authentication.k8s.io', 'v1', 'SelfSubjectReview'],
  ['V1TokenReview', 'authentication.k8s.io', 'v1', 'TokenReview'],
  ['V1DeleteOptions', 'meta.k8s.io', 'v1', 'DeleteOptions'],
];

export type ListFact = {
  readonly listType: 'set' | 'map' | 'atomic';
  readonly keys?: readonly string[];
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
  /** Strategic merge: how, and by which key. */
  readonly patch?: 'merge' | 'merge,retainKeys';
  readonly mergeKey?: string;
};

const byKey = (key: string): ListFact => ({ listType: 'map', keys: [key], patch: 'merge', mergeKey: key });
const retaining = (key: string): ListFact => ({ listType: 'map', keys: [key], patch: 'merge,retainKeys', mergeKey: key });
/** Merged by key in server-side apply only. */
const applyByKey = (key: string): ListFact => ({ listType: 'map', keys: [key] });
const set: ListFact = { listType: 'set' };
const mergedSet: ListFact = { listType: 'set', patch: 'merge' };
const portsBy = (key: string): ListFact => ({
  listType: 'map',
  keys: [key, 'protocol'],
  keyDefaults: { protocol: 'TCP' },
  patch: 'merge',
  mergeKey: key,
});

const containerLists: readonly (readonly [string, ListFact])[] = [
  ['env', byKey('name')],
  ['ports', portsBy('containerPort')],
  ['volumeDevices', byKey('devicePath')],
  ['volumeMounts', byKey('mountPath')],
];
const lists = (type: string, facts: readonly (readonly [string, ListFact])[]): (readonly [string, ListFact])[] =>
  facts.map(([field, fact]) => [`${type}.${field}`, fact]);

/** Lists that are not atomic, by `GoType.field`. */
export const LIST_FACTS: ReadonlyMap<string, ListFact> = new Map([
  ...lists('ObjectMeta', [
    ['finalizers', mergedSet],
    ['ownerReferences', byKey('uid')],
  ]),
  ...lists('PodSpec', [
    ['containers', byKey('name')],
    ['ephemeralContainers', byKey('name')],
    ['hostAliases', byKey('ip')],
    ['imagePullSecrets', byKey('name')],
    ['initContainers', byKey('name')],
    ['resourceClaims', retaining('name')],
    ['schedulingGates', byKey('name')],
    ['topologySpreadConstraints', { listType: 'map', keys: ['topologyKey', 'whenUnsatisfiable'], patch: 'merge', mergeKey: 'topologyKey' }],
    ['volumes', retaining('name')],
  ]),
  ...lists('Container', containerLists),
  ...lists('EphemeralContainer', containerLists),
  ...lists('ResourceRequirements', [['claims', applyByKey('name')]]),
  ...lists('PodStatus', [
    ['conditions', byKey('type')],
    ['hostIPs', { listType: 'atomic', patch: 'merge', mergeKey: 'ip' }],
    ['podIPs', byKey('ip')],
    ['resourceClaimStatuses', retaining('name')],
  ]),
  ...lists('ContainerStatus', [
    ['allocatedResourcesStatus', byKey('name')],
    ['volumeMounts', byKey('mountPath')],
  ]),
  ...lists('ResourceStatus', [['resources', applyByKey('resourceID')]]),
  ...lists('JobStatus', [['conditions', { listType: 'atomic', patch: 'merge', mergeKey: 'type' }]]),
  ...lists('UncountedTerminatedPods', [
    ['failed', set],
    ['succeeded', set],
  ]),
  ...lists('PodFailurePolicyOnExitCodesRequirement', [['values', set]]),
  ...lists('NamespaceStatus', [['conditions', byKey('type')]]),
  ...lists('NodeSpec', [['podCIDRs', mergedSet]]),
  ...lists('NodeStatus', [
    ['addresses', byKey('type')],
    ['conditions', byKey('type')],
  ]),
  ...lists('ServiceAccount', [['secrets', byKey('name')]]),
  ...lists('ServiceSpec', [['ports', portsBy('port')]]),
  ...lists('ServiceStatus', [['conditions', byKey('type')]]),
  ...lists('PersistentVolumeClaimStatus', [['conditions', byKey('type')]]),
  ...lists('PodDisruptionBudgetStatus', [['conditions', byKey('type')]]),
  ...['DaemonSet', 'Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'].flatMap((kind) =>
    lists(`${kind}Status`, [['conditions', byKey('type')]]),
  ),
  ...lists('CSINodeSpec', [['drivers', byKey('name')]]),
  ...lists('CSIDriverSpec', [['volumeLifecycleModes', set]]),
  ...lists('CustomResourceDefinitionStatus', [['conditions', applyByKey('type')]]),
  ...lists('JSONSchemaProps', [['x-kubernetes-validations', { listType: 'map', keys: ['rule'], patch: 'merge', mergeKey: 'rule' }]]),
  ...lists('MutatingWebhookConfiguration', [['webhooks', byKey('name')]]),
  ...lists('ValidatingWebhookConfiguration', [['webhooks', byKey('name')]]),
  ...lists('MutatingWebhook', [['matchConditions', byKey('name')]]),
  ...lists('ValidatingWebhook', [['matchConditions', byKey('name')]]),
  ...lists('ValidatingAdmissionPolicySpec', [
    ['matchConditions', byKey('name')],
    ['variables', byKey('name')],
  ]),
  ...lists('ValidatingAdmissionPolicyStatus', [['conditions', applyByKey('type')]]),
  ...lists('ValidatingAdmissionPolicyBindingSpec', [['validationActions', set]]),
]);

/** Strategies of fields that are objects. */
export const OBJECT_PATCH_STRATEGIES: ReadonlyMap<string, 'retainKeys' | 'replace'> = new Map([
  ['DeploymentSpec.strategy', 'retainKeys'],
  ['PersistentVolumeClaimSpec.selector', 'replace'],
]);

/** Structs that server-side apply owns whole. */
export const ATOMIC_TYPES: ReadonlySet<string> = new Set(
  words(`
    ConfigMapKeySelector FileKeySelector LabelSelector LocalObjectReference NodeSelector NodeSelectorTerm
    ObjectFieldSelector ObjectReference OwnerReference ResourceFieldSelector RoleRef ScopeSelector
    SecretKeySelector SecretReference ServiceReference Subject TypedLocalObjectReference
    EndpointAddress EndpointPort TopologySelectorTerm ScopedResourceSelectorRequirement
  `),
);

/** Maps that server-side apply owns whole. */
export const ATOMIC_MAPS: ReadonlySet<string> = new Set([
  'PodSpec.nodeSelector',
  'ServiceSpec.selector',
  'ReplicationControllerSpec.selector',
]);

/** Optional fields without `omitempty`, or holding a struct or a time by value: they appear also when unset. */
export const ALWAYS_EMITTED: ReadonlySet<string> = new Set(
  words(`
    PodTemplateSpec.metadata PodTemplateSpec.spec JobTemplateSpec.metadata JobTemplateSpec.spec PodTemplate.template
    PersistentVolumeClaimTemplate.metadata PersistentVolumeClaimSpec.resources
    Container.resources ContainerStatus.state ContainerStatus.lastState
    ContainerStateRunning.startedAt ContainerStateTerminated.startedAt ContainerStateTerminated.finishedAt
    PodCondition.lastProbeTime PodCondition.lastTransitionTime JobCondition.lastProbeTime JobCondition.lastTransitionTime
    NodeCondition.lastHeartbeatTime NodeCondition.lastTransitionTime NamespaceCondition.lastTransitionTime
    PersistentVolumeClaimCondition.lastProbeTime PersistentVolumeClaimCondition.lastTransitionTime
    DeploymentCondition.lastUpdateTime DeploymentCondition.lastTransitionTime ReplicaSetCondition.lastTransitionTime
    StatefulSetCondition.lastTransitionTime DaemonSetCondition.lastTransitionTime
    ReplicationControllerCondition.lastTransitionTime
    StatefulSetStatus.availableReplicas VolumeError.time
    DeploymentSpec.strategy StatefulSetSpec.updateStrategy DaemonSetSpec.updateStrategy ReplicaSetSpec.template
    NetworkPolicySpec.podSelector
    NodeStatus.daemonEndpoints NodeStatus.nodeInfo NodeDaemonEndpoints.kubeletEndpoint ServiceStatus.loadBalancer
    CoreV1Event.source CoreV1Event.firstTimestamp CoreV1Event.lastTimestamp CoreV1Event.eventTime
    CoreV1Event.reportingComponent CoreV1Event.reportingInstance CoreV1EventSeries.lastObservedTime
    EventsV1Event.regarding EventsV1Event.eventTime EventsV1Event.deprecatedSource
    EventsV1Event.deprecatedFirstTimestamp EventsV1Event.deprecatedLastTimestamp
    ResourceFieldSelector.divisor ServicePort.targetPort
    CustomResourceDefinitionStatus.acceptedNames CustomResourceDefinitionStatus.conditions
    CustomResourceDefinitionStatus.storedVersions CustomResourceDefinitionCondition.lastTransitionTime
    ClusterRole.rules Role.rules RoleRef.apiGroup TokenReviewStatus.user SelfSubjectReviewStatus.userInfo
    PriorityClass.value ContainerImage.names NodeRuntimeHandler.name
    PodDisruptionBudgetStatus.disruptionsAllowed PodDisruptionBudgetStatus.currentHealthy
    PodDisruptionBudgetStatus.desiredHealthy PodDisruptionBudgetStatus.expectedPods
  `),
);

/** Required fields that hold a pointer: null, not {}, when unset. */
export const REQUIRED_POINTERS: ReadonlySet<string> = new Set(
  words(`
    DaemonSetSpec.selector DeploymentSpec.selector ReplicaSetSpec.selector StatefulSetSpec.selector
    NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution VolumeNodeAffinity.required
  `),
);

/** Maps that validation still wants to see when they are empty; their strategies drop them before they are stored. */
export const EMPTY_MAPS_KEPT: ReadonlySet<string> = new Set(['ConfigMap.data', 'ConfigMap.binaryData', 'Secret.data']);

/** Optional strings that are pointers: an empty string stays. */
export const POINTER_STRINGS: ReadonlySet<string> = new Set(
  words(`
    VolumeAttachmentSource.persistentVolumeName PersistentVolumeSpec.volumeAttributesClassName LocalVolumeSource.fsType
    AzureFilePersistentVolumeSource.secretNamespace PersistentVolumeClaimStatus.currentVolumeAttributesClassName
    JobSpec.completionMode JobSpec.managedBy JobSpec.podReplacementPolicy JobStatus.failedIndexes CronJobSpec.timeZone
    SuccessPolicyRule.succeededIndexes PodFailurePolicyOnExitCodesRequirement.containerName
    PodSpec.runtimeClassName PodSpec.preemptionPolicy PodSpec.hostnameOverride Container.restartPolicy
    EphemeralContainer.restartPolicy Lifecycle.stopSignal SecurityContext.procMount ContainerStatus.stopSignal
    PodSecurityContext.fsGroupChangePolicy PodSecurityContext.supplementalGroupsPolicy PodSecurityContext.seLinuxChangePolicy
    SeccompProfile.localhostProfile AppArmorProfile.localhostProfile WindowsSecurityContextOptions.gmsaCredentialSpec
    WindowsSecurityContextOptions.gmsaCredentialSpecName WindowsSecurityContextOptions.runAsUserName
    VolumeMount.mountPropagation VolumeMount.recursiveReadOnly VolumeMountStatus.recursiveReadOnly
    PersistentVolumeClaimSpec.storageClassName PersistentVolumeClaimSpec.volumeMode
    PersistentVolumeClaimSpec.volumeAttributesClassName PersistentVolumeSpec.volumeMode HostPathVolumeSource.type
    GRPCAction.service TopologySpreadConstraint.nodeAffinityPolicy TopologySpreadConstraint.nodeTaintsPolicy
    PodResourceClaim.resourceClaimName PodResourceClaim.resourceClaimTemplateName PodResourceClaimStatus.resourceClaimName
    CSIVolumeSource.fsType AzureDiskVolumeSource.cachingMode AzureDiskVolumeSource.fsType AzureDiskVolumeSource.kind
    TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup TypedObjectReference.namespace
    ClusterTrustBundleProjection.name ClusterTrustBundleProjection.signerName PodDNSConfigOption.value
    MutatingWebhook.failurePolicy MutatingWebhook.matchPolicy MutatingWebhook.sideEffects MutatingWebhook.reinvocationPolicy
    ValidatingWebhook.failurePolicy ValidatingWebhook.matchPolicy ValidatingWebhook.sideEffects RuleWithOperations.scope
    NamedRuleWithOperations.scope MatchResources.matchPolicy ValidatingAdmissionPolicySpec.failurePolicy Validation.reason
    ParamRef.parameterNotFoundAction
    WebhookClientConfig.url ServiceReference.path LeaseSpec.holderIdentity LeaseSpec.preferredHolder LeaseSpec.strategy
    CustomResourceDefinitionVersion.deprecationWarning CustomResourceSubresourceScale.labelSelectorPath
    JSONSchemaProps.$ref JSONSchemaProps.x-kubernetes-list-type JSONSchemaProps.x-kubernetes-map-type ValidationRule.reason
    ServiceSpec.internalTrafficPolicy ServiceSpec.ipFamilyPolicy ServiceSpec.loadBalancerClass ServicePort.appProtocol
    StorageClass.reclaimPolicy StorageClass.volumeBindingMode CSIDriverSpec.fsGroupPolicy
    PriorityClass.preemptionPolicy PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy DeleteOptions.propagationPolicy
    Preconditions.resourceVersion Preconditions.uid
  `),
);

/** Optional numbers and booleans that are plain values: zero and false do not appear. */
export const VALUE_SCALARS: ReadonlySet<string> = new Set([
  ...words(`
    PodSpec.hostNetwork PodSpec.hostPID PodSpec.hostIPC ContainerPort.hostPort VolumeMount.readOnly
    Probe.initialDelaySeconds Probe.timeoutSeconds Probe.periodSeconds Probe.successThreshold Probe.failureThreshold
  `),
  ...['Container', 'EphemeralContainer'].flatMap((type) => [`${type}.stdin`, `${type}.stdinOnce`, `${type}.tty`]),
  ...words(`
    PodCondition.observedGeneration PodStatus.observedGeneration ObjectMeta.generation Condition.observedGeneration
    JobStatus.active JobStatus.succeeded JobStatus.failed ContainerStateTerminated.signal
  `),
  ...['AWSElasticBlockStoreVolumeSource', 'GCEPersistentDiskVolumeSource'].flatMap((type) => [`${type}.readOnly`, `${type}.partition`]),
  ...['CephFS', 'Cinder', 'FC', 'Flex', 'Glusterfs', 'ISCSI', 'NFS', 'Portworx', 'Quobyte', 'RBD', 'ScaleIO', 'StorageOS', 'AzureFile'].map(
    (source) => `${source}VolumeSource.readOnly`,
  ),
  ...['CSI', 'CephFS', 'Cinder', 'Flex', 'ISCSI', 'RBD', 'ScaleIO', 'StorageOS', 'AzureFile'].map(
    (source) => `${source}PersistentVolumeSource.readOnly`,
  ),
  ...words(`
    ISCSIPersistentVolumeSource.chapAuthDiscovery ISCSIPersistentVolumeSource.chapAuthSession
    ScaleIOPersistentVolumeSource.sslEnabled ReplicationControllerSpec.minReadySeconds
    PersistentVolumeClaimVolumeSource.readOnly ISCSIVolumeSource.chapAuthDiscovery ISCSIVolumeSource.chapAuthSession
    ScaleIOVolumeSource.sslEnabled VolumeMountStatus.readOnly ServiceSpec.publishNotReadyAddresses
    ServiceSpec.healthCheckNodePort ServicePort.nodePort NodeSpec.unschedulable ContainerImage.sizeBytes
    CoreV1Event.count CoreV1EventSeries.count EventsV1Event.deprecatedCount PriorityClass.globalDefault
    PodDisruptionBudgetStatus.observedGeneration DeploymentSpec.minReadySeconds DeploymentSpec.paused
    DaemonSetSpec.minReadySeconds ReplicaSetSpec.minReadySeconds StatefulSetSpec.minReadySeconds
  `),
  ...[
    'availableReplicas',
    'fullyLabeledReplicas',
    'observedGeneration',
    'readyReplicas',
    'replicas',
    'unavailableReplicas',
    'updatedReplicas',
  ].flatMap((field) => ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'].map((kind) => `${kind}Status.${field}`)),
  ...words(`
    StatefulSetStatus.currentReplicas DaemonSetStatus.observedGeneration DaemonSetStatus.numberAvailable
    DaemonSetStatus.numberUnavailable DaemonSetStatus.updatedNumberScheduled ScaleSpec.replicas
    SubjectAccessReviewStatus.denied TokenReviewStatus.authenticated CustomResourceDefinitionVersion.deprecated
    CustomResourceDefinitionSpec.preserveUnknownFields CustomResourceColumnDefinition.priority
    CustomResourceDefinitionStatus.observedGeneration CustomResourceDefinitionCondition.observedGeneration
    ValidatingAdmissionPolicyStatus.observedGeneration
  `),
  ...[
    'exclusiveMaximum',
    'exclusiveMinimum',
    'nullable',
    'uniqueItems',
    'x-kubernetes-embedded-resource',
    'x-kubernetes-int-or-string',
  ].map((field) => `JSONSchemaProps.${field}`),
]);

/** Maps whose values are quantities. */
export const QUANTITY_MAPS: ReadonlySet<string> = new Set([
  ...words(`
    ResourceRequirements.limits ResourceRequirements.requests VolumeResourceRequirements.limits
    VolumeResourceRequirements.requests ContainerStatus.allocatedResources PodStatus.allocatedResources PodSpec.overhead
    Overhead.podFixed
    NodeStatus.capacity NodeStatus.allocatable ResourceQuotaSpec.hard ResourceQuotaStatus.hard ResourceQuotaStatus.used
  `),
  ...['default', 'defaultRequest', 'max', 'maxLimitRequestRatio', 'min'].map((field) => `LimitRangeItem.${field}`),
  ...words(`
    PersistentVolumeClaimStatus.capacity PersistentVolumeClaimStatus.allocatedResources PersistentVolumeSpec.capacity
  `),
]);
export const QUANTITIES: ReadonlySet<string> = new Set(
  words(`
    EmptyDirVolumeSource.sizeLimit ResourceFieldSelector.divisor CSIStorageCapacity.capacity CSIStorageCapacity.maximumVolumeSize
  `),
);

/** Fields that take several forms, and the model of those that are objects. */
export const OBJECTS_IN_ANY: ReadonlyMap<string, string> = new Map(
  ['items', 'additionalItems', 'additionalProperties', 'dependencies'].map((field) => [`JSONSchemaProps.${field}`, 'V1JSONSchemaProps']),
);
