import { describe, expect, test } from 'vitest';
import { compactJob, podFenceProblemOf } from '../../../../../manager/work-kind/job/compact-job.ts';
import { podFenceProblem } from '../../../../../manager/work-kind/job/pod-fence-problem.ts';
import type { Job, JobSpec, PodSpec } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const MAIN = { name: 'main', image: 'i' };
const job = (pod: Partial<PodSpec>, spec: Partial<JobSpec> = {}): Job =>
  aHomeJob({ spec: { template: { spec: { restartPolicy: 'Never', containers: [MAIN], ...pod } }, ...spec } });
const probe = { tcpSocket: { port: 80 } };
const rules = Array.from({ length: 20 }, () => ({ action: 'Count', onExitCodes: { operator: 'In', values: [1] } }));

describe('a pod fence', () => {
  test('is possible for a Job of containers and sidecars that say nothing of probes', () => {
    const sidecar = { name: 'proxy', image: 'i', restartPolicy: 'Always', readinessProbe: probe };
    expect(podFenceProblem(job({ initContainers: [sidecar], volumes: [{ name: 'scratch', emptyDir: {} }] }))).toBeUndefined();
  });

  test('is judged of a pod with null or anything else in place of a list, which the API server refuses or drops', () => {
    const wrong = { initContainers: null, volumes: null, containers: [{ ...MAIN, ports: 'http' }] };
    expect(podFenceProblem(job(wrong as unknown as PodSpec))).toBeUndefined();
  });

  test.each<[string, Job, string]>([
    ['would start containers again', job({ restartPolicy: 'OnFailure' }), 'spec.template.spec.restartPolicy must be Never'],
    ['has the network of its node', job({ hostNetwork: true }), 'spec.template.spec.hostNetwork must not be set'],
    ['is for Windows', job({ os: { name: 'windows' } }), 'spec.template.spec.os is windows'],
    [
      'has a liveness probe',
      job({ containers: [{ ...MAIN, livenessProbe: probe }] }),
      'spec.template.spec.containers[main] has a livenessProbe',
    ],
    [
      'has a startup probe',
      job({ containers: [{ ...MAIN, startupProbe: probe }] }),
      'spec.template.spec.containers[main] has a startupProbe',
    ],
    [
      'has one in a sidecar',
      job({ initContainers: [{ name: 'proxy', restartPolicy: 'Always', livenessProbe: probe }] }),
      'spec.template.spec.initContainers[proxy] has a livenessProbe',
    ],
    [
      'has an init container',
      job({ initContainers: [{ name: 'fetch' }] }),
      'spec.template.spec.initContainers[fetch] is an init container, which kubelets do not probe',
    ],
    [
      'has a container that is started again',
      job({ containers: [{ ...MAIN, restartPolicy: 'Always' }] }),
      'spec.template.spec.containers[main] has a restart policy of its own',
    ],
    ['listens where the pod fence does', job({ containers: [{ ...MAIN, ports: [{ containerPort: 29_871 }] }] }), 'listens on port 29871'],
    ['has a container of its name', job({ containers: [{ name: 'switchyard-pod-fence' }] }), 'has the name of the sidecar'],
    ['has a volume of its name', job({ volumes: [{ name: 'switchyard-pod-fence-state' }] }), 'has switchyard-pod-fence-state'],
    ['has as many rules for failed pods as there may be', job({}, { podFailurePolicy: { rules } }), 'spec.podFailurePolicy has 20 rules'],
  ])('is not, and says why, for a Job that %s', (_, refused, text) => {
    const found = podFenceProblem(refused);
    expect(`${found?.field} ${found?.problem}`).toContain(text);
    // Of Jobs that wait less is kept, and the same is known.
    expect(podFenceProblemOf(compactJob(refused))).toEqual(found);
  });
});
