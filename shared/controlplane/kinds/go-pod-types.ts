/**
 * Upstream's internal types of a pod's spec, which Go writes into messages: each with its fields in their order. They have no JSON
 * names, so a field is written by its own, and is found in a decoded object by the name after `=`, else by its own with a small letter.
 * What follows says how an absent value is written: nothing `""`, `#` 0, `!` false, `%` an amount of 0, `?` null; `*Type` a pointer (null),
 * `[]Type` a list (null), `:Type` a struct by value; `+Type` puts the fields of that type in its place.
 */
export const POD_TYPES = {
  PodSpec: `
    Volumes[]Volume InitContainers[]Container Containers[]Container EphemeralContainers[]EphemeralContainer RestartPolicy
    TerminationGracePeriodSeconds? ActiveDeadlineSeconds? DNSPolicy=dnsPolicy NodeSelector? ServiceAccountName
    AutomountServiceAccountToken? NodeName SecurityContext*PodSecurityContext ImagePullSecrets[]LocalObjectReference Hostname
    Subdomain SetHostnameAsFQDN? Affinity*Affinity SchedulerName Tolerations[]Toleration HostAliases[]HostAlias PriorityClassName
    Priority? PreemptionPolicy? DNSConfig=dnsConfig*PodDNSConfig ReadinessGates[]PodReadinessGate RuntimeClassName? Overhead?
    EnableServiceLinks? TopologySpreadConstraints[]TopologySpreadConstraint OS=os*PodOS SchedulingGates[]PodSchedulingGate
    ResourceClaims[]PodResourceClaim Resources*ResourceRequirements HostnameOverride? SchedulingGroup*PodSchedulingGroup
  `,
  Volume: 'Name +VolumeSource',
  Container: `
    Name Image Command? Args? WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar Resources:ResourceRequirements
    ResizePolicy[]ContainerResizePolicy RestartPolicy? RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount
    VolumeDevices[]VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe StartupProbe*Probe Lifecycle*Lifecycle TerminationMessagePath
    TerminationMessagePolicy ImagePullPolicy SecurityContext*SecurityContext Stdin! StdinOnce! TTY=tty!
  `,
  EphemeralContainer: '+Container TargetContainerName',
  PodSecurityContext: `
    HostNetwork! HostPID! HostIPC! ShareProcessNamespace? HostUsers? SELinuxOptions=seLinuxOptions*SELinuxOptions
    WindowsOptions*WindowsSecurityContextOptions RunAsUser? RunAsGroup? RunAsNonRoot? SupplementalGroups? SupplementalGroupsPolicy?
    FSGroup=fsGroup? Sysctls[]Sysctl FSGroupChangePolicy=fsGroupChangePolicy? SeccompProfile*SeccompProfile
    AppArmorProfile*AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy?
  `,
  LocalObjectReference: 'Name',
  Affinity: 'NodeAffinity*NodeAffinity PodAffinity*PodAffinity PodAntiAffinity*PodAntiAffinity',
  Toleration: 'Key Operator Value Effect TolerationSeconds?',
  HostAlias: 'IP=ip Hostnames?',
  PodDNSConfig: 'Nameservers? Searches? Options[]PodDNSConfigOption',
  PodReadinessGate: 'ConditionType',
  TopologySpreadConstraint: `
    MaxSkew# TopologyKey WhenUnsatisfiable LabelSelector? MinDomains? NodeAffinityPolicy? NodeTaintsPolicy? MatchLabelKeys?
  `,
  PodOS: 'Name',
  PodSchedulingGate: 'Name',
  PodResourceClaim: 'Name ResourceClaimName? ResourceClaimTemplateName?',
  ResourceRequirements: 'Limits? Requests? Claims[]ResourceClaim',
  PodSchedulingGroup: 'PodGroupName?',
  VolumeSource: `
    HostPath*HostPathVolumeSource EmptyDir*EmptyDirVolumeSource GCEPersistentDisk=gcePersistentDisk*GCEPersistentDiskVolumeSource
    AWSElasticBlockStore=awsElasticBlockStore*AWSElasticBlockStoreVolumeSource GitRepo*GitRepoVolumeSource Secret*SecretVolumeSource
    NFS=nfs*NFSVolumeSource ISCSI=iscsi*ISCSIVolumeSource Glusterfs*GlusterfsVolumeSource
    PersistentVolumeClaim*PersistentVolumeClaimVolumeSource RBD=rbd*RBDVolumeSource Quobyte*QuobyteVolumeSource
    FlexVolume*FlexVolumeSource Cinder*CinderVolumeSource CephFS=cephfs*CephFSVolumeSource Flocker*FlockerVolumeSource
    DownwardAPI*DownwardAPIVolumeSource FC=fc*FCVolumeSource AzureFile*AzureFileVolumeSource ConfigMap*ConfigMapVolumeSource
    VsphereVolume*VsphereVirtualDiskVolumeSource AzureDisk*AzureDiskVolumeSource PhotonPersistentDisk*PhotonPersistentDiskVolumeSource
    Projected*ProjectedVolumeSource PortworxVolume*PortworxVolumeSource ScaleIO*ScaleIOVolumeSource
    StorageOS=storageos*StorageOSVolumeSource CSI=csi*CSIVolumeSource Ephemeral*EphemeralVolumeSource Image*ImageVolumeSource
  `,
  ContainerPort: 'Name HostPort# ContainerPort# Protocol HostIP',
  EnvFromSource: 'Prefix ConfigMapRef*ConfigMapEnvSource SecretRef*SecretEnvSource',
  EnvVar: 'Name Value ValueFrom*EnvVarSource',
  ContainerResizePolicy: 'ResourceName RestartPolicy',
  ContainerRestartRule: 'Action ExitCodes*ContainerRestartRuleOnExitCodes',
  VolumeMount: 'Name ReadOnly! RecursiveReadOnly? MountPath SubPath MountPropagation? SubPathExpr',
  VolumeDevice: 'Name DevicePath',
  Probe: `
    +ProbeHandler InitialDelaySeconds# TimeoutSeconds# PeriodSeconds# SuccessThreshold# FailureThreshold#
    TerminationGracePeriodSeconds?
  `,
  Lifecycle: 'PostStart*LifecycleHandler PreStop*LifecycleHandler StopSignal?',
  SecurityContext: `
    Capabilities*Capabilities Privileged? SELinuxOptions=seLinuxOptions*SELinuxOptions WindowsOptions*WindowsSecurityContextOptions
    RunAsUser? RunAsGroup? RunAsNonRoot? ReadOnlyRootFilesystem? AllowPrivilegeEscalation? ProcMount? SeccompProfile*SeccompProfile
    AppArmorProfile*AppArmorProfile
  `,
  SELinuxOptions: 'User Role Type Level',
  WindowsSecurityContextOptions: `
    GMSACredentialSpecName=gmsaCredentialSpecName? GMSACredentialSpec=gmsaCredentialSpec? RunAsUserName? HostProcess?
  `,
  Sysctl: 'Name Value',
  SeccompProfile: 'Type LocalhostProfile?',
  AppArmorProfile: 'Type LocalhostProfile?',
  NodeAffinity: `
    RequiredDuringSchedulingIgnoredDuringExecution*NodeSelector
    PreferredDuringSchedulingIgnoredDuringExecution[]PreferredSchedulingTerm
  `,
  PodAffinity: `
    RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm
    PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm
  `,
  PodAntiAffinity: `
    RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm
    PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm
  `,
  PodDNSConfigOption: 'Name Value?',
  ResourceClaim: 'Name Request',
  HostPathVolumeSource: 'Path Type?',
  EmptyDirVolumeSource: 'Medium SizeLimit?',
  GCEPersistentDiskVolumeSource: 'PDName=pdName FSType=fsType Partition# ReadOnly!',
  AWSElasticBlockStoreVolumeSource: 'VolumeID FSType=fsType Partition# ReadOnly!',
  GitRepoVolumeSource: 'Repository Revision Directory',
  SecretVolumeSource: 'SecretName Items[]KeyToPath DefaultMode? Optional?',
  NFSVolumeSource: 'Server Path ReadOnly!',
  ISCSIVolumeSource: `
    TargetPortal IQN=iqn Lun# ISCSIInterface=iscsiInterface FSType=fsType ReadOnly! Portals? DiscoveryCHAPAuth=chapAuthDiscovery!
    SessionCHAPAuth=chapAuthSession! SecretRef*LocalObjectReference InitiatorName?
  `,
  GlusterfsVolumeSource: 'EndpointsName=endpoints Path ReadOnly!',
  PersistentVolumeClaimVolumeSource: 'ClaimName ReadOnly!',
  RBDVolumeSource: `
    CephMonitors=monitors? RBDImage=image FSType=fsType RBDPool=pool RadosUser=user Keyring SecretRef*LocalObjectReference ReadOnly!
  `,
  FlexVolumeSource: 'Driver FSType=fsType SecretRef*LocalObjectReference ReadOnly! Options?',
  CinderVolumeSource: 'VolumeID FSType=fsType ReadOnly! SecretRef*LocalObjectReference',
  CephFSVolumeSource: 'Monitors? Path User SecretFile SecretRef*LocalObjectReference ReadOnly!',
  FlockerVolumeSource: 'DatasetName DatasetUUID',
  DownwardAPIVolumeSource: 'Items[]DownwardAPIVolumeFile DefaultMode?',
  FCVolumeSource: 'TargetWWNs? Lun? FSType=fsType ReadOnly! WWIDs=wwids?',
  AzureFileVolumeSource: 'SecretName ShareName ReadOnly!',
  ConfigMapVolumeSource: '+LocalObjectReference Items[]KeyToPath DefaultMode? Optional?',
  VsphereVirtualDiskVolumeSource: 'VolumePath FSType=fsType StoragePolicyName StoragePolicyID',
  QuobyteVolumeSource: 'Registry Volume ReadOnly! User Group Tenant',
  AzureDiskVolumeSource: 'DiskName DataDiskURI=diskURI CachingMode? FSType=fsType? ReadOnly? Kind?',
  PhotonPersistentDiskVolumeSource: 'PdID FSType=fsType',
  ProjectedVolumeSource: 'Sources[]VolumeProjection DefaultMode?',
  PortworxVolumeSource: 'VolumeID FSType=fsType ReadOnly!',
  ScaleIOVolumeSource: `
    Gateway System SecretRef*LocalObjectReference SSLEnabled=sslEnabled! ProtectionDomain StoragePool StorageMode VolumeName
    FSType=fsType ReadOnly!
  `,
  StorageOSVolumeSource: 'VolumeName VolumeNamespace FSType=fsType ReadOnly! SecretRef*LocalObjectReference',
  CSIVolumeSource: 'Driver ReadOnly? FSType=fsType? VolumeAttributes? NodePublishSecretRef*LocalObjectReference',
  EphemeralVolumeSource: 'VolumeClaimTemplate*PersistentVolumeClaimTemplate',
  ImageVolumeSource: 'Reference PullPolicy',
  ConfigMapEnvSource: '+LocalObjectReference Optional?',
  SecretEnvSource: '+LocalObjectReference Optional?',
  EnvVarSource: `
    FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector ConfigMapKeyRef*ConfigMapKeySelector
    SecretKeyRef*SecretKeySelector FileKeyRef*FileKeySelector
  `,
  ContainerRestartRuleOnExitCodes: 'Operator Values?',
  ProbeHandler: 'Exec*ExecAction HTTPGet=httpGet*HTTPGetAction TCPSocket=tcpSocket*TCPSocketAction GRPC=grpc*GRPCAction',
  LifecycleHandler: 'Exec*ExecAction HTTPGet=httpGet*HTTPGetAction TCPSocket=tcpSocket*TCPSocketAction Sleep*SleepAction',
  Capabilities: 'Add? Drop?',
  NodeSelector: 'NodeSelectorTerms[]NodeSelectorTerm',
  PreferredSchedulingTerm: 'Weight# Preference:NodeSelectorTerm',
  PodAffinityTerm: 'LabelSelector? Namespaces? TopologyKey NamespaceSelector? MatchLabelKeys? MismatchLabelKeys?',
  WeightedPodAffinityTerm: 'Weight# PodAffinityTerm:PodAffinityTerm',
  KeyToPath: 'Key Path Mode?',
  DownwardAPIVolumeFile: 'Path FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector Mode?',
  VolumeProjection: `
    Secret*SecretProjection DownwardAPI*DownwardAPIProjection ConfigMap*ConfigMapProjection
    ServiceAccountToken*ServiceAccountTokenProjection ClusterTrustBundle*ClusterTrustBundleProjection
    PodCertificate*PodCertificateProjection
  `,
  PersistentVolumeClaimTemplate: '+ObjectMeta Spec:PersistentVolumeClaimSpec',
  ObjectFieldSelector: 'APIVersion=apiVersion FieldPath',
  ResourceFieldSelector: 'ContainerName Resource Divisor%',
  ConfigMapKeySelector: '+LocalObjectReference Key Optional?',
  SecretKeySelector: '+LocalObjectReference Key Optional?',
  FileKeySelector: 'VolumeName Path Key Optional?',
  ExecAction: 'Command?',
  HTTPGetAction: 'Path Port# Host Scheme HTTPHeaders=httpHeaders[]HTTPHeader',
  TCPSocketAction: 'Port# Host',
  GRPCAction: 'Port# Service?',
  SleepAction: 'Seconds#',
  NodeSelectorTerm: 'MatchExpressions[]NodeSelectorRequirement MatchFields[]NodeSelectorRequirement',
  SecretProjection: '+LocalObjectReference Items[]KeyToPath Optional?',
  DownwardAPIProjection: 'Items[]DownwardAPIVolumeFile',
  ConfigMapProjection: '+LocalObjectReference Items[]KeyToPath Optional?',
  ServiceAccountTokenProjection: 'Audience ExpirationSeconds# Path',
  ClusterTrustBundleProjection: 'Name? SignerName? LabelSelector? Optional? Path',
  PodCertificateProjection: 'SignerName KeyType MaxExpirationSeconds? CredentialBundlePath KeyPath CertificateChainPath UserAnnotations?',
  PersistentVolumeClaimSpec: `
    AccessModes? Selector? Resources:VolumeResourceRequirements VolumeName StorageClassName? VolumeMode?
    DataSource*TypedLocalObjectReference DataSourceRef*TypedObjectReference VolumeAttributesClassName?
  `,
  HTTPHeader: 'Name Value',
  NodeSelectorRequirement: 'Key Operator Values?',
  VolumeResourceRequirements: 'Limits? Requests?',
  TypedLocalObjectReference: 'APIGroup=apiGroup? Kind Name',
  TypedObjectReference: 'APIGroup=apiGroup? Kind Name Namespace?',
} as const;
