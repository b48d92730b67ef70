import { expect, test } from 'vitest';
import { remoteJob } from '../../../../../../manager/work-kind/job/copy/remote-job.ts';
import { droppedFields } from '../../../../../../manager/work-kind/job/copy/dropped-fields.ts';
import type { JobSpec } from '../../../../../../shared/api/kubernetes.ts';
import { hasPodFence } from '../../../../../../shared/api/pod-fence.ts';
import { anAdmittedJob } from '../../../../../support/jobs.ts';
import type { CopyOptions } from '../../../../../../manager/work-kind/copy-options.ts';

const OPTIONS: CopyOptions = { origin: 'm1', epoch: 3, jobController: 'switchyard.dev/worker', local: false, flavors: [] };
const FENCED: CopyOptions = { ...OPTIONS, podFence: { image: 'registry.example/fence:1', afterSeconds: 120 } };
const proxy = { name: 'proxy', image: 'p', restartPolicy: 'Always' };
const RULE = { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } };
const user: Partial<JobSpec> = {
  podFailurePolicy: { rules: [RULE] },
  template: {
    spec: {
      restartPolicy: 'Never',
      initContainers: [proxy],
      containers: [{ name: 'main', image: 'busybox', command: ['true'], volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] }],
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
  },
};
const specOf = (options: CopyOptions) => remoteJob(anAdmittedJob({ spec: user }), options).spec;
const podOf = (options: CopyOptions) => specOf(options).template.spec!;

test('without one a copy is what the user wrote', () => {
  const { initContainers, volumes } = podOf(OPTIONS);
  expect(initContainers).toEqual([expect.objectContaining(proxy)]);
  expect(volumes).toEqual([{ name: 'scratch', emptyDir: {} }]);
  expect(specOf(OPTIONS)).toMatchObject({ podReplacementPolicy: 'TerminatingOrFailed', podFailurePolicy: { rules: [RULE] } });
});

test('its sidecar comes before all containers, which wait until it has seen a renewal, by nothing that the pod may do in the cluster', () => {
  const { initContainers = [], volumes = [] } = podOf(FENCED);
  expect(hasPodFence({ spec: podOf(FENCED) })).toBe(true);
  expect(initContainers.map(({ name }) => name)).toEqual(['switchyard-pod-fence', 'proxy']);
  expect(initContainers[0]).toMatchObject({
    image: 'registry.example/fence:1',
    restartPolicy: 'Always',
    command: ['node', '-e', expect.any(String)],
    args: ['/var/run/switchyard/renewal/renewal', '/var/run/switchyard/state', '$(POD_IP)', '29871', '120'],
    startupProbe: { httpGet: { path: '/', port: 29_871 }, periodSeconds: 1, failureThreshold: 240 },
    securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  });
  expect(volumes.map(({ name }) => name)).toEqual(['scratch', 'switchyard-pod-fence-renewal', 'switchyard-pod-fence-state']);
  expect(volumes[1]?.downwardAPI?.items?.[0]?.fieldRef?.fieldPath).toBe("metadata.annotations['switchyard.dev/pod-fence-renewal']");
});

test('every container of the user, sidecars among them, is ended by it and does not start behind it', () => {
  const { initContainers = [], containers } = podOf(FENCED);
  for (const container of [...initContainers.slice(1), ...containers]) {
    expect(container.livenessProbe).toMatchObject({ httpGet: { port: 29_871 }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 });
    expect(container.volumeMounts?.at(-1)).toMatchObject({ name: 'switchyard-pod-fence-state', subPath: 'gate/open', readOnly: true });
  }
  expect(containers[0]?.volumeMounts?.[0]).toEqual({ name: 'scratch', mountPath: '/scratch' });
});

test('a pod that it has ended is no failure of the Job, before all that the user says of failures', () => {
  expect(specOf(FENCED).podFailurePolicy?.rules).toEqual([
    { action: 'Ignore', onExitCodes: { containerName: 'switchyard-pod-fence', operator: 'In', values: [75] } },
    RULE,
  ]);
  // Upstream takes a pod failure policy with no other.
  expect(specOf(FENCED).podReplacementPolicy).toBe('Failed');
});

test('an API server that does not know native sidecars has dropped something of the copy', () => {
  const sent = specOf(FENCED);
  const kept = structuredClone(sent);
  for (const container of kept.template.spec?.initContainers ?? []) delete container.restartPolicy;
  expect(droppedFields(sent, kept)).toContain('spec.template.spec.initContainers[0].restartPolicy');
});
