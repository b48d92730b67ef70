import type { Container, JobSpec, PodSpec } from '../../../../shared/api/kubernetes.ts';
import { POD_FENCE_RENEWAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { POD_FENCE_CONTAINER, POD_FENCE_EXIT_CODE } from '../../../../shared/api/pod-fence.ts';
import { POD_FENCE_PORT, POD_FENCE_VOLUMES } from '../../../api/pod-fence.ts';
import type { PodFence } from '../../copy-options.ts';
import { POD_FENCE_PROGRAM } from './pod-fence-program.ts';

/**
 * The Job with a pod fence: a sidecar that watches the renewals of its pod, and probes by which the kubelet ends the containers when
 * renewals stop. How long that takes is in manager/api/fenced-off.ts. The caller checks {@link podFenceProblem} first.
 */
export function withPodFence(spec: JobSpec, fence: PodFence): JobSpec {
  const { template, podFailurePolicy } = spec;
  if (template.spec === undefined) return spec;
  // The pod failure policy requires this value; it also keeps a pod from starting while another pod of its index may still run.
  return {
    ...spec,
    podReplacementPolicy: 'Failed',
    podFailurePolicy: { ...podFailurePolicy, rules: [IGNORES_CUT_OFF, ...(podFailurePolicy?.rules ?? [])] },
    template: { ...template, spec: fencedPod(template.spec, fence) },
  };
}

/** A pod that was cut off has failed through no fault of the Job. */
const IGNORES_CUT_OFF = {
  action: 'Ignore',
  onExitCodes: { containerName: POD_FENCE_CONTAINER, operator: 'In', values: [POD_FENCE_EXIT_CODE] },
};

const fencedPod = (pod: PodSpec, fence: PodFence): PodSpec => ({
  ...pod,
  // The sidecar comes first, so that no other container starts before a renewal was seen.
  initContainers: [sidecar(fence), ...(pod.initContainers ?? []).map(fenced)],
  containers: (pod.containers ?? []).map(fenced),
  volumes: [...(pod.volumes ?? []), ...VOLUMES],
});

const VOLUMES: NonNullable<PodSpec['volumes']> = [
  {
    name: POD_FENCE_VOLUMES.renewal,
    downwardAPI: { items: [{ path: 'renewal', fieldRef: { fieldPath: `metadata.annotations['${POD_FENCE_RENEWAL_ANNOTATION}']` } }] },
  },
  { name: POD_FENCE_VOLUMES.state, emptyDir: {} },
];

const RENEWAL_PATH = '/var/run/switchyard/renewal';
const STATE_PATH = '/var/run/switchyard/state';
const GATE_PATH = '/var/run/switchyard-pod-fence';

/** After three failed probes in a row, within 35 s, the kubelet ends the container. */
const LIVENESS = { httpGet: { path: '/', port: POD_FENCE_PORT }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };

const fenced = (container: Container): Container => ({
  ...container,
  livenessProbe: LIVENESS,
  volumeMounts: [
    ...(container.volumeMounts ?? []),
    { name: POD_FENCE_VOLUMES.state, mountPath: GATE_PATH, subPath: 'gate/open', readOnly: true },
  ],
});

const sidecar = ({ image, afterSeconds }: PodFence): Container => ({
  name: POD_FENCE_CONTAINER,
  image,
  restartPolicy: 'Always',
  command: ['node', '-e', POD_FENCE_PROGRAM],
  args: [`${RENEWAL_PATH}/renewal`, STATE_PATH, '$(POD_IP)', String(POD_FENCE_PORT), String(afterSeconds)],
  env: [
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    // The sidecar needs little memory, whatever the image sets for its own programs.
    { name: 'NODE_OPTIONS', value: '--max-semi-space-size=1 --max-old-space-size=16' },
  ],
  // The program exits by itself before this probe gives up.
  startupProbe: { httpGet: { path: '/', port: POD_FENCE_PORT }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: afterSeconds * 2 },
  volumeMounts: [
    { name: POD_FENCE_VOLUMES.renewal, mountPath: RENEWAL_PATH, readOnly: true },
    { name: POD_FENCE_VOLUMES.state, mountPath: STATE_PATH },
  ],
  securityContext: {
    runAsUser: 65_532,
    runAsGroup: 65_532,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
});
