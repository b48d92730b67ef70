import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import { PODS_AT_ONCE_MAX } from '../../../../../manager/work-kind/pod-set-problems.ts';
import { ruleProblems } from '../../../../../manager/work-kind/job/rule-problems.ts';
import type { Job, JobSpec } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const fields = (job: Job): string[] => ruleProblems(job, DEFAULT_JOB_RULES).map(({ field }) => field);
const aJob = (spec: Partial<JobSpec>): Job => aHomeJob({ spec });

test('a Job has as many pods at once as a cluster may bear, and no more', () => {
  const [most, more] = [PODS_AT_ONCE_MAX, PODS_AT_ONCE_MAX + 1];
  expect(fields(aJob({ parallelism: most, completions: more }))).toEqual([]);
  expect(fields(aJob({ parallelism: more, completions: more }))).toEqual(['spec.parallelism']);
  expect(fields(aJob({ parallelism: more, completions: 5 }))).toEqual([]);
});

test('a Job that is too large says so', () => {
  expect(fields(aJob({ template: { spec: { containers: [{ name: 'main', args: ['x'.repeat(DEFAULT_JOB_RULES.bytesMax)] }] } } }))).toEqual([
    'job',
  ]);
});

test('a Job of a denied namespace names the flag and the remedy; a manifest without a namespace is not judged by it', () => {
  const problems = (namespace: string | undefined, deniedNamespaces = DEFAULT_JOB_RULES.deniedNamespaces) => {
    const job = aHomeJob();
    return ruleProblems(
      { ...job, metadata: { ...job.metadata, namespace: namespace as string } },
      { ...DEFAULT_JOB_RULES, deniedNamespaces },
    );
  };
  const remedy = 'create the Job in another namespace, or ask an administrator to change that flag';
  expect(problems('kube-system')).toEqual([
    { field: 'metadata.namespace', problem: `is "kube-system", which is denied by --denied-namespaces (kube-*); ${remedy}` },
  ]);
  expect(problems('team', ['kube-*', 'team'])[0]?.problem).toMatch(/^is "team", .* \(team\); /);
  expect([problems('team'), problems(undefined), problems('kube-system', [])]).toEqual([[], [], []]);
});

describe('what its pods ask for', () => {
  const ofPod = (pod: object): Job => aJob({ template: { spec: { containers: [{ name: 'main' }], ...pod } } });
  const asking = (requests: Record<string, string>): Job => ofPod({ containers: [{ name: 'main', resources: { requests } }] });
  test('can be read, and counted', () => {
    expect(fields(asking({ cpu: '1000000' }))).toEqual([]);
    expect(ruleProblems(asking({ cpu: '1e400' }), DEFAULT_JOB_RULES)).toEqual([
      { field: 'spec.template.spec', problem: 'asks for more cpu than can be counted; ask for less' },
    ]);
    expect(ruleProblems(asking({ cpu: 'much' }), DEFAULT_JOB_RULES)[0]?.problem).toMatch(/^resources of the pod template: quantities must/);
  });

  test.each<[string, object]>([
    ['a pod', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] }],
    ['a container', { containers: [{ name: 'main', resources: { claims: [{ name: 'gpu' }] } }] }],
    ['an init container', { initContainers: [{ name: 'first', resources: { claims: [{ name: 'gpu' }] } }] }],
  ])('is no device that %s claims, unless the administrator does not mind', (_who, pod) => {
    expect(fields(ofPod(pod))).toEqual(['spec.template.spec.resourceClaims']);
    expect(ruleProblems(ofPod(pod), { ...DEFAULT_JOB_RULES, resourceClaims: 'Ignore' })).toEqual([]);
  });
});
