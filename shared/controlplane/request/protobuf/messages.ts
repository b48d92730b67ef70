/**
 * The numbers under which the API's protobuf encoding carries fields, for what typed clients (kubectl from 1.32 on) send.
 * A description lists fields in the order of their numbers, from 1; `=n` jumps to a number. After a colon comes the type
 * (default string): int, bool, bytes, Quantity, Time, IntOrString or a message; `[]` a list, `{}` a map from strings,
 * `<` a message whose fields JSON shows in its parent.
 */
const DESCRIPTIONS = {
  ObjectMeta:
    'name generateName namespace selfLink uid resourceVersion generation:int creationTimestamp:Time deletionTimestamp:Time ' +
    'deletionGracePeriodSeconds:int labels:{} annotations:{} ownerReferences:[]OwnerReference finalizers:[]',
  OwnerReference: 'kind name=3 uid apiVersion controller:bool blockOwnerDeletion:bool',
  ObjectReference: 'kind namespace name uid apiVersion resourceVersion fieldPath',
  LocalObjectReference: 'name',
  LabelSelector: 'matchLabels:{} matchExpressions:[]LabelSelectorRequirement',
  LabelSelectorRequirement: 'key operator values:[]',

  Namespace: 'metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus',
  NamespaceSpec: 'finalizers:[]',
  NamespaceStatus: 'phase',
  ConfigMap: 'metadata:ObjectMeta data:{} binaryData:{}bytes immutable:bool',
  Secret: 'metadata:ObjectMeta data:{}bytes type stringData:{} immutable:bool',
  ServiceAccount: 'metadata:ObjectMeta secrets:[]ObjectReference imagePullSecrets:[]LocalObjectReference automountServiceAccountToken:bool',
  ResourceQuota: 'metadata:ObjectMeta spec:ResourceQuotaSpec status:ResourceQuotaStatus',
  ResourceQuotaSpec: 'hard:{}Quantity scopes:[]',
  ResourceQuotaStatus: 'hard:{}Quantity used:{}Quantity',
  PriorityClass: 'metadata:ObjectMeta value:int globalDefault:bool description preemptionPolicy',
  RuntimeClass: 'metadata:ObjectMeta handler overhead:Overhead scheduling:Scheduling',
  Overhead: 'podFixed:{}Quantity',
  Scheduling: 'nodeSelector:{} tolerations:[]Toleration',
  PodDisruptionBudget: 'metadata:ObjectMeta spec:PodDisruptionBudgetSpec status:PodDisruptionBudgetStatus',
  PodDisruptionBudgetSpec: 'minAvailable:IntOrString selector:LabelSelector maxUnavailable:IntOrString unhealthyPodEvictionPolicy',
  PodDisruptionBudgetStatus:
    'observedGeneration:int disruptedPods:{}Time disruptionsAllowed:int currentHealthy:int desiredHealthy:int expectedPods:int',
  Lease: 'metadata:ObjectMeta spec:LeaseSpec',
  LeaseSpec: 'holderIdentity leaseDurationSeconds:int acquireTime:MicroTime renewTime:MicroTime leaseTransitions:int',

  Service: 'metadata:ObjectMeta spec:ServiceSpec status:ServiceStatus',
  ServiceSpec:
    'ports:[]ServicePort selector:{} clusterIP type externalIPs:[] sessionAffinity=7 loadBalancerIP loadBalancerSourceRanges:[] ' +
    'externalName externalTrafficPolicy healthCheckNodePort:int publishNotReadyAddresses:bool sessionAffinityConfig:SessionAffinityConfig ' +
    'ipFamilyPolicy=17 clusterIPs:[] ipFamilies:[] allocateLoadBalancerNodePorts:bool loadBalancerClass internalTrafficPolicy ' +
    'trafficDistribution',
  ServicePort: 'name protocol port:int targetPort:IntOrString nodePort:int appProtocol',
  SessionAffinityConfig: 'clientIP:ClientIPConfig',
  ClientIPConfig: 'timeoutSeconds:int',
  ServiceStatus: 'loadBalancer:LoadBalancerStatus',
  LoadBalancerStatus: 'ingress:[]LoadBalancerIngress',
  LoadBalancerIngress: 'ip hostname ipMode',
  Deployment: 'metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus',
  DeploymentSpec:
    'replicas:int selector:LabelSelector template:PodTemplateSpec strategy:DeploymentStrategy minReadySeconds:int revisionHistoryLimit:int ' +
    'paused:bool progressDeadlineSeconds:int=9',
  DeploymentStrategy: 'type rollingUpdate:RollingUpdateDeployment',
  RollingUpdateDeployment: 'maxUnavailable:IntOrString maxSurge:IntOrString',
  DeploymentStatus:
    'observedGeneration:int replicas:int updatedReplicas:int availableReplicas:int unavailableReplicas:int readyReplicas:int=7 ' +
    'collisionCount:int terminatingReplicas:int',
  ReplicaSet: 'metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus',
  ReplicaSetSpec: 'replicas:int selector:LabelSelector template:PodTemplateSpec minReadySeconds:int',
  ReplicaSetStatus:
    'replicas:int fullyLabeledReplicas:int observedGeneration:int readyReplicas:int availableReplicas:int terminatingReplicas:int=7',

  Job: 'metadata:ObjectMeta spec:JobSpec status:JobStatus',
  JobSpec:
    'parallelism:int completions:int activeDeadlineSeconds:int selector:LabelSelector manualSelector:bool template:PodTemplateSpec ' +
    'backoffLimit:int ttlSecondsAfterFinished:int completionMode suspend:bool podFailurePolicy:PodFailurePolicy backoffLimitPerIndex:int ' +
    'maxFailedIndexes:int podReplacementPolicy managedBy successPolicy:SuccessPolicy',
  JobStatus:
    'startTime:Time=2 completionTime:Time active:int succeeded:int failed:int completedIndexes ready:int=9 failedIndexes terminating:int',
  PodFailurePolicy: 'rules:[]PodFailurePolicyRule',
  PodFailurePolicyRule: 'action onExitCodes:PodFailurePolicyOnExitCodes onPodConditions:[]PodFailurePolicyOnPodConditions',
  PodFailurePolicyOnExitCodes: 'containerName operator values:[]int',
  PodFailurePolicyOnPodConditions: 'type status',
  SuccessPolicy: 'rules:[]SuccessPolicyRule',
  SuccessPolicyRule: 'succeededIndexes succeededCount:int',
  CronJob: 'metadata:ObjectMeta spec:CronJobSpec status:CronJobStatus',
  CronJobSpec:
    'schedule startingDeadlineSeconds:int concurrencyPolicy suspend:bool jobTemplate:JobTemplateSpec successfulJobsHistoryLimit:int ' +
    'failedJobsHistoryLimit:int timeZone',
  CronJobStatus: 'active:[]ObjectReference lastScheduleTime:Time=4 lastSuccessfulTime:Time',
  JobTemplateSpec: 'metadata:ObjectMeta spec:JobSpec',

  Pod: 'metadata:ObjectMeta spec:PodSpec status:PodStatus',
  PodStatus: 'phase message=3 reason hostIP podIP startTime:Time qosClass=9',
  PodTemplateSpec: 'metadata:ObjectMeta spec:PodSpec',
  PodSpec:
    'containers:[]Container=2 restartPolicy terminationGracePeriodSeconds:int activeDeadlineSeconds:int dnsPolicy nodeSelector:{} ' +
    'serviceAccountName serviceAccount nodeName hostNetwork:bool hostPID:bool hostIPC:bool securityContext:PodSecurityContext ' +
    'imagePullSecrets:[]LocalObjectReference hostname subdomain schedulerName=19 initContainers:[]Container ' +
    'automountServiceAccountToken:bool tolerations:[]Toleration priorityClassName=24 priority:int shareProcessNamespace:bool=27 ' +
    'runtimeClassName=29 enableServiceLinks:bool preemptionPolicy setHostnameAsFQDN:bool=35 hostUsers:bool=37 ' +
    'schedulingGates:[]PodSchedulingGate',
  PodSchedulingGate: 'name',
  PodSecurityContext: 'runAsUser:int=2 runAsNonRoot:bool supplementalGroups:[]int fsGroup:int runAsGroup:int',
  Toleration: 'key operator value effect tolerationSeconds:int',
  Container:
    'name image command:[] args:[] workingDir ports:[]ContainerPort env:[]EnvVar resources:ResourceRequirements ' +
    'volumeMounts:[]VolumeMount terminationMessagePath=13 imagePullPolicy securityContext:SecurityContext stdin:bool stdinOnce:bool ' +
    'tty:bool envFrom:[]EnvFromSource terminationMessagePolicy restartPolicy=24',
  ContainerPort: 'name hostPort:int containerPort:int protocol hostIP',
  EnvVar: 'name value valueFrom:EnvVarSource',
  EnvVarSource: 'fieldRef:ObjectFieldSelector configMapKeyRef:KeySelector=3 secretKeyRef:KeySelector',
  ObjectFieldSelector: 'apiVersion fieldPath',
  KeySelector: 'localObjectReference:<LocalObjectReference key optional:bool',
  EnvFromSource: 'prefix configMapRef:EnvSource secretRef:EnvSource',
  EnvSource: 'localObjectReference:<LocalObjectReference optional:bool',
  ResourceRequirements: 'limits:{}Quantity requests:{}Quantity',
  VolumeMount: 'name readOnly:bool mountPath subPath mountPropagation subPathExpr recursiveReadOnly',
  SecurityContext:
    'capabilities:Capabilities privileged:bool runAsUser:int=4 runAsNonRoot:bool readOnlyRootFilesystem:bool ' +
    'allowPrivilegeEscalation:bool runAsGroup:int procMount',
  Capabilities: 'add:[] drop:[]',

  Role: 'metadata:ObjectMeta rules:[]PolicyRule',
  ClusterRole: 'metadata:ObjectMeta rules:[]PolicyRule aggregationRule:AggregationRule',
  AggregationRule: 'clusterRoleSelectors:[]LabelSelector',
  PolicyRule: 'verbs:[] apiGroups:[] resources:[] resourceNames:[] nonResourceURLs:[]',
  RoleBinding: 'metadata:ObjectMeta subjects:[]Subject roleRef:RoleRef',
  ClusterRoleBinding: 'metadata:ObjectMeta subjects:[]Subject roleRef:RoleRef',
  Subject: 'kind apiGroup name namespace',
  RoleRef: 'apiGroup kind name',
  SelfSubjectAccessReview: 'metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec status:SubjectAccessReviewStatus',
  SelfSubjectAccessReviewSpec: 'resourceAttributes:ResourceAttributes nonResourceAttributes:NonResourceAttributes',
  ResourceAttributes: 'namespace verb group version resource subresource name',
  NonResourceAttributes: 'path verb',
  SubjectAccessReviewStatus: 'allowed:bool reason evaluationError denied:bool',
  SelfSubjectRulesReview: 'metadata:ObjectMeta spec:SelfSubjectRulesReviewSpec status:SubjectRulesReviewStatus',
  SelfSubjectRulesReviewSpec: 'namespace',
  SubjectRulesReviewStatus: 'incomplete:bool=3 evaluationError',
  SelfSubjectReview: 'metadata:ObjectMeta status:SelfSubjectReviewStatus',
  SelfSubjectReviewStatus: 'userInfo:UserInfo',
  UserInfo: 'username uid groups:[]',
  TokenRequest: 'metadata:ObjectMeta spec:TokenRequestSpec status:TokenRequestStatus',
  TokenRequestSpec: 'audiences:[] boundObjectRef:BoundObjectReference=3 expirationSeconds:int',
  BoundObjectReference: 'kind apiVersion name uid',
  TokenRequestStatus: 'token expirationTimestamp:Time',
  Binding: 'metadata:ObjectMeta target:ObjectReference',
  Eviction: 'metadata:ObjectMeta deleteOptions:DeleteOptions',
  DeleteOptions: 'gracePeriodSeconds:int preconditions:Preconditions orphanDependents:bool propagationPolicy dryRun:[]',
  Preconditions: 'uid resourceVersion',
} as const;

export type ProtobufField = {
  readonly name: string;
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  /** Of the value, of the elements, of the map's values. */
  readonly type: string;
};
export type ProtobufMessage = ReadonlyMap<number, ProtobufField>;

const readDescription = (description: string): ProtobufMessage => {
  const fields = new Map<number, ProtobufField>();
  let number = 0;
  for (const term of description.split(' ')) {
    const [, name = '', marker = '', type = '', jump] = /^(\w+)(?::(\[\]|\{\}|<)?(\w*))?(?:=(\d+))?$/.exec(term) ?? [];
    number = jump === undefined ? number + 1 : Number(jump);
    const shape = marker === '[]' ? 'list' : marker === '{}' ? 'map' : marker === '<' ? 'inline' : 'one';
    fields.set(number, { name, shape, type: type === '' ? 'string' : type });
  }
  return fields;
};

const MESSAGES: ReadonlyMap<string, ProtobufMessage> = new Map(
  Object.entries(DESCRIPTIONS).map(([name, description]) => [name, readDescription(description)]),
);

/** The fields of a kind or of a message inside one; undefined when it is not known. */
export const protobufMessage = (name: string): ProtobufMessage | undefined => MESSAGES.get(name);
