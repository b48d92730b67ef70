import { describe, expect, test } from 'vitest';
import { ADMISSION_ANNOTATION, CLUSTERS_ANNOTATION, PRIORITY_ANNOTATION } from '../../../../../shared/api/names.ts';
import { refusalOf } from '../../../../../manager/api/refusals.ts';
import { nowhereMessage } from '../../../../../manager/api/rest-proof.ts';
import type { Job, JobCondition } from '../../../../../shared/api/kubernetes.ts';
import { workloadOf as workloadWith, type Workload } from '../../../../../manager/admission/workload/workload.ts';
import { aCondition, aHomeJob, anAdmittedJob, recordOn, restingAfter, sealedFor, type JobParts } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const workloadOf = (job: Job): Workload | undefined => workloadWith(JOB_KIND, job, recordOn(job));
const requestsOf = (parts: JobParts): Record<string, number> => Object.fromEntries(workloadOf(aHomeJob(parts))?.requests ?? []);
const podSpec = (spec: Partial<NonNullable<Job['spec']['template']['spec']>>): Job['spec']['template'] => ({
  spec: { containers: [], ...spec },
});
const main = (requests: Record<string, string>, limits: Record<string, string> = {}) => ({
  name: 'main',
  image: 'x',
  resources: { requests, limits },
});

describe('what a Workload requests', () => {
  test('as many pods as may run at once count, never more than completions', () => {
    const template = podSpec({ containers: [main({ cpu: '500m' })] });
    expect(requestsOf({ spec: { parallelism: 4, completions: 3, template } })).toEqual({ cpu: 1500, pods: 3 });
    const queueJob: JobParts = { spec: { parallelism: 4, template } };
    const job = aHomeJob(queueJob);
    delete job.spec.completions;
    expect(Object.fromEntries(workloadOf(job)?.requests ?? [])).toEqual({ cpu: 2000, pods: 4 });
  });

  test('completions that are there already free nothing: a copy made anew runs as many pods again', () => {
    const template = podSpec({ containers: [main({ cpu: '1' })] });
    expect(requestsOf({ spec: { parallelism: 4, completions: 10, template }, status: { succeeded: 9 } })).toEqual({ cpu: 4000, pods: 4 });
  });

  test('the peak of the init containers counts where it exceeds the sum of the containers', () => {
    const template = podSpec({
      containers: [main({ cpu: '1', memory: '1Gi' }), main({ cpu: '1' })],
      initContainers: [{ ...main({ cpu: '3', memory: '512Mi' }), name: 'init' }],
    });
    expect(requestsOf({ spec: { template } })).toEqual({ cpu: 3000, memory: 2 ** 30, pods: 1 });
  });

  test('a sidecar counts beside the containers and beside the init containers after it', () => {
    const template = podSpec({
      containers: [main({ cpu: '1' })],
      initContainers: [
        { ...main({ cpu: '500m' }), name: 'sidecar', restartPolicy: 'Always' },
        { ...main({ cpu: '2' }), name: 'init' },
      ],
    });
    expect(requestsOf({ spec: { template } })).toEqual({ cpu: 2500, pods: 1 });
  });

  test('a limit counts where no request is named, and overhead comes on top', () => {
    const template = podSpec({ containers: [main({}, { cpu: '2', 'nvidia.com/gpu': '1' })], overhead: { cpu: '250m' } });
    expect(requestsOf({ spec: { template } })).toEqual({ cpu: 2250, 'nvidia.com/gpu': 1, pods: 1 });
  });

  test('requests of the whole pod replace those of its containers', () => {
    const template = podSpec({ containers: [main({ cpu: '1', memory: '1Gi' })], resources: { requests: { cpu: '4' } } });
    expect(requestsOf({ spec: { template } })).toEqual({ cpu: 4000, memory: 2 ** 30, pods: 1 });
  });
});

describe('how far a Workload has come', () => {
  const annotations = { [ADMISSION_ANNOTATION]: sealedFor(aHomeJob()) };
  const phase = (parts: JobParts) => workloadOf(aHomeJob(parts))?.phase;

  test('without a record it is pending; it is to be suspended where it is not, and evicting where pods may run', () => {
    expect(phase({})).toBe('Pending');
    expect(phase({ spec: { suspend: false } })).toBe('Unrecorded');
    expect(phase({ status: { active: 1 } })).toBe('Evicting');
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(phase({ metadata: { deletionTimestamp }, spec: { suspend: false } })).toBe('Finished');
    expect(phase({ metadata: { deletionTimestamp }, status: { active: 1 } })).toBe('Finished');
  });
  test('without a record, though it was admitted once, it is evicting until nothing is proven to run of it anywhere', () => {
    const metadata = { finalizers: ['switchyard.dev/copies'], generation: 3 };
    const rests = (generation: number) =>
      aCondition('Dispatched', { status: 'False', reason: 'AtRest', message: nowhereMessage(generation) });
    expect(phase({ metadata })).toBe('Evicting');
    expect(phase({ metadata, status: { conditions: [rests(2)] } })).toBe('Evicting');
    expect(phase({ metadata, status: { conditions: [rests(3)] } })).toBe('Pending');
  });
  test('with a record and released it is admitted', () => {
    expect(phase({ metadata: { annotations }, spec: { suspend: false } })).toBe('Admitted');
  });
  test('suspended while pods may run it is evicting, and pending once nothing runs', () => {
    expect(phase({ metadata: { annotations }, status: { active: 1 } })).toBe('Evicting');
    expect(phase({ metadata: { annotations }, status: { startTime: '2026-01-01T00:00:00Z' } })).toBe('Evicting');
    const marked = { [ADMISSION_ANNOTATION]: sealedFor(aHomeJob(), { evicted: true }) };
    const resting = { conditions: [restingAfter()] };
    expect(phase({ metadata: { annotations: marked }, status: resting })).toBe('Pending');
    // That nobody has told of a pod proves nothing, nor does what was true of an earlier admission.
    expect(phase({ metadata: { annotations: marked } })).toBe('Evicting');
    expect(phase({ metadata: { annotations: marked }, status: { conditions: [{ type: 'Suspended', status: 'True' }] } })).toBe('Evicting');
    const earlier = { conditions: [restingAfter({ since: '2025-12-31T23:00:00Z' })] };
    expect(phase({ metadata: { annotations: marked }, status: earlier })).toBe('Evicting');
    expect(phase({ metadata: { annotations }, status: resting })).toBe('Evicting');
    expect(phase({ metadata: { annotations }, status: { conditions: [{ type: 'Dispatched', status: 'True' }] } })).toBe('Evicting');
  });
  test('Complete or Failed it is finished whatever else it says', () => {
    expect(
      phase({ metadata: { annotations }, spec: { suspend: false }, status: { conditions: [{ type: 'Failed', status: 'True' }] } }),
    ).toBe('Finished');
  });
  test('a pending Job that is being deleted is finished, an admitted one still holds its quota', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(phase({ metadata: { deletionTimestamp } })).toBe('Finished');
    const admitted = (finalizers: string[]) =>
      phase({ metadata: { deletionTimestamp, annotations, finalizers }, spec: { suspend: false } });
    expect(admitted(['switchyard.dev/copies', 'example.com/own'])).toBe('Admitted');
    // Its copies are gone, and somebody else keeps it.
    expect(admitted(['example.com/own'])).toBe('Finished');
  });
  test('a Job of another controller is no Workload', () => {
    expect(workloadOf(aHomeJob({ spec: { managedBy: 'example.com/other' } }))).toBeUndefined();
  });
});

describe('what a Job says about itself', () => {
  test('a priority, a list of clusters and a selector are read', () => {
    const workload = workloadOf(
      aHomeJob({ metadata: { annotations: { [PRIORITY_ANNOTATION]: '-5', [CLUSTERS_ANNOTATION]: 'eu-1, us-2' } } }),
    );
    expect(workload).toMatchObject({
      priorityWish: { annotated: -5 },
      wish: { kind: 'Names', names: ['eu-1', 'us-2'] },
      problem: undefined,
    });
    const selecting = workloadOf(aHomeJob({ metadata: { annotations: { [CLUSTERS_ANNOTATION]: 'region in (eu, us)' } } }));
    expect(selecting?.wish).toMatchObject({ kind: 'Selector' });
  });
  test('what cannot be read is named with its annotation', () => {
    expect(workloadOf(aHomeJob({ metadata: { annotations: { [PRIORITY_ANNOTATION]: 'high' } } }))?.problem).toMatch(
      /^annotation switchyard.dev\/priority is "high"/,
    );
    expect(workloadOf(aHomeJob({ metadata: { annotations: { [ADMISSION_ANNOTATION]: '{' } } }))).toMatchObject({
      problem: undefined,
      untrusted: { reason: 'Invalid', problem: 'annotation switchyard.dev/admission: it is not a JSON object' },
    });
    expect(workloadOf(aHomeJob({ spec: { template: podSpec({ containers: [main({ cpu: 'lots' })] }) } }))?.problem).toMatch(
      /^resources of the pod template/,
    );
  });
  test('Jobs that ask for the same have the same scheduling hash, whatever their names and priorities', () => {
    const hash = (parts: JobParts) => workloadOf(aHomeJob(parts))?.schedulingHash;
    expect(hash({ metadata: { name: 'a', annotations: { [PRIORITY_ANNOTATION]: '1' } } })).toBe(hash({ metadata: { name: 'b' } }));
    expect(hash({ metadata: { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } } })).not.toBe(hash({}));
    expect(hash({ spec: { parallelism: 2, completions: 2 } })).not.toBe(hash({}));
  });
  test('Jobs whose pods could run on different nodes have different scheduling hashes', () => {
    const hash = (pod: Parameters<typeof podSpec>[0]) => workloadOf(aHomeJob({ spec: { template: podSpec(pod) } }))?.schedulingHash;
    const affinity = (...values: string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'type', operator: 'In', values }] }],
        },
      },
    });
    const hashes = [
      hash({}),
      hash({ nodeSelector: { type: 'one' } }),
      hash({ nodeSelector: { type: 'two' } }),
      hash({ affinity: affinity('one') }),
      hash({ affinity: affinity('one', 'two') }),
      hash({ tolerations: [{ key: 'type', value: 'one' }] }),
      hash({ tolerations: [{ key: 'type', operator: 'Exists' }] }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hash({ nodeSelector: { a: '1', b: '2' } })).toBe(hash({ nodeSelector: { b: '2', a: '1' } }));
    expect(hash({ affinity: affinity('one') })).toBe(hash({ affinity: affinity('one') }));
    // What a scheduler would merely rather have, and where other pods are, says nothing of flavors.
    expect(hash({ affinity: { podAntiAffinity: {}, nodeAffinity: {} }, nodeSelector: {}, tolerations: [] })).toBe(hash({}));
  });
  test('its cluster has refused it when its condition says so of the placement that its record tells of', () => {
    const told = { type: 'Dispatched', status: 'False', ...refusalOf(2, { reason: 'NameTaken', message: 'taken' }) };
    const refusal = (epoch: number, condition: JobCondition) =>
      workloadOf(anAdmittedJob({ status: { conditions: [condition] } }, { epoch }))?.refusal;
    expect(refusal(2, told)).toBe('NameTaken');
    expect(refusal(3, told)).toBeUndefined();
    expect(refusal(2, { ...told, status: 'True' })).toBeUndefined();
    expect(workloadOf(anAdmittedJob())?.refusal).toBeUndefined();
  });
});
