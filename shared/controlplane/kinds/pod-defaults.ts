import { formatQuantity, parseQuantity, quantityOfMilliUnits, toMilliUnits } from '../../kube/quantity.ts';
import {
  asPod,
  type DecodedContainer,
  type DecodedPodSpec,
  type DecodedPodStatus,
  type DecodedProbe,
  type DecodedVolume,
} from './decoded.ts';
import { defaultPullPolicy } from './image-reference.ts';
import type { AnyObject } from '../apimachinery/object.ts';

const FILE_MODE_0644 = 0o644;

/** SetObjectDefaults_Pod of core/v1: those of any pod spec, and a few that only real pods get. */
export const applyPodDefaults = (object: AnyObject): void => {
  const pod = asPod(object);
  pod.spec ??= {};
  for (const container of [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])]) requestWhatIsLimited(container);
  pod.spec.enableServiceLinks ??= true;
  if (pod.spec.hostNetwork === true) exposeOnHost(pod.spec);
  applyPodSpecDefaults(pod.spec);
  // Conversion of a Pod; templates keep what they say, and get a warning.
  if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  if (pod.status !== undefined) reconcilePodIps(pod.status);
};

/** `podIP` repeats the first of `podIPs`; where they disagree the older field counts (conversion of core/v1 PodStatus). */
const reconcilePodIps = (status: DecodedPodStatus): void => {
  const listed = status.podIPs?.[0]?.ip;
  const single = status.podIP ?? '';
  if (single === '') {
    if (listed !== undefined) status.podIP = listed;
  } else if (single !== listed) status.podIPs = [{ ip: single }];
};

/** The defaults of a pod spec, whether of a pod or of a template. */
export const applyPodSpecDefaults = (spec: DecodedPodSpec): void => {
  spec.restartPolicy ||= 'Always';
  // The older name of the field stays readable and writable.
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) spec.serviceAccount = spec.serviceAccountName = account;
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.schedulerName ||= 'default-scheduler';
  spec.terminationGracePeriodSeconds ??= 30;
  spec.securityContext ??= {};
  for (const volume of spec.volumes ?? []) applyVolumeDefaults(volume);
  for (const container of spec.initContainers ?? []) applyContainerDefaults(container);
  for (const container of spec.containers ?? []) applyContainerDefaults(container);
  for (const container of spec.ephemeralContainers ?? []) applyContainerDefaults(container);
};

const applyContainerDefaults = (container: DecodedContainer): void => {
  container.resources ??= {};
  roundToThousandths(container.resources.limits);
  roundToThousandths(container.resources.requests);
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  container.imagePullPolicy ||= defaultPullPolicy(container.image ?? '');
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const variable of container.env ?? []) {
    if (variable.valueFrom?.fieldRef) variable.valueFrom.fieldRef.apiVersion ||= 'v1';
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) applyProbeDefaults(probe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) applyHttpGetDefaults(handler?.httpGet);
};

/** Amounts finer than a thousandth are rounded up; only such are written with n or u. */
const roundToThousandths = (amounts: Record<string, string> | undefined): void => {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (amounts !== undefined && /[nu]$/.test(amount))
      amounts[name] = formatQuantity(quantityOfMilliUnits(toMilliUnits(parseQuantity(amount))));
  }
};

const applyProbeDefaults = (probe: DecodedProbe | undefined): void => {
  if (probe === undefined) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  applyHttpGetDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
};

const applyHttpGetDefaults = (action: DecodedProbe['httpGet']): void => {
  if (action === undefined) return;
  action.path ||= '/';
  action.scheme ||= 'HTTP';
};

const applyVolumeDefaults = (volume: DecodedVolume): void => {
  // A volume that names no source is an empty directory.
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= FILE_MODE_0644;
  if (volume.configMap) volume.configMap.defaultMode ??= FILE_MODE_0644;
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.iscsi) volume.iscsi.iscsiInterface ||= 'default';
  if (volume.ephemeral?.volumeClaimTemplate?.spec) volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= FILE_MODE_0644;
    for (const item of volume.downwardAPI.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1';
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= FILE_MODE_0644;
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
      for (const item of source.downwardAPI?.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1';
    }
  }
};

/** What a container limits and does not request, it requests in full. */
const requestWhatIsLimited = (container: DecodedContainer): void => {
  const limits = container.resources?.limits;
  if (container.resources === undefined || limits === undefined) return;
  container.resources.requests = { ...limits, ...container.resources.requests };
};

/** A port of a pod on the host's network is a port of the host. */
const exposeOnHost = (spec: DecodedPodSpec): void => {
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    for (const port of container.ports ?? []) if (port.containerPort !== undefined) port.hostPort ||= port.containerPort;
  }
};
