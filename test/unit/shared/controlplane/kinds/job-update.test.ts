import { describe, expect, test } from 'vitest';
import { jobStrategy } from '../../../../../shared/controlplane/kinds/job-strategy.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const jobs = driveKind(jobStrategy);
const stored = (spec: object, status: object = {}): AnyObject => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], affinity: { nodeAffinity: {} } } };
  return { ...jobs.create({ metadata: { name: 'j' }, spec: { template, ...spec } }).object, status };
};
type Template = { metadata: { labels: object; annotations?: object; finalizers?: string[] }; spec: Record<string, unknown> };
type Spec = Record<string, unknown> & { template: Template };
const change = (job: AnyObject, edit: (spec: Spec) => void) => jobs.update(job, (next) => edit(next['spec'] as Spec));
/** Paths and the end of each sentence, without the values. */
const found = (job: AnyObject, edit: (spec: Spec) => void): string[] =>
  change(job, edit).findings.map((finding) => finding.replace(/\{.*\}: /, '').replace('Invalid value: ', ''));

describe('a generation', () => {
  test('is raised by a change of the spec and by nothing else', () => {
    const job = stored({});
    expect(change(job, (spec) => (spec['parallelism'] = 2)).object.metadata.generation).toBe(2);
    expect(jobs.update(job, (next) => (next.metadata.labels = { a: 'b' })).object.metadata.generation).toBe(1);
    expect(change(job, (spec) => (spec.template.spec['tolerations'] = [])).object.metadata.generation).toBe(1);
  });
  test('and status is left alone by the main resource', () => {
    const job = stored({}, { active: 1 });
    expect(jobs.update(job, (next) => (next['status'] = { failed: 9 })).object['status']).toEqual({ active: 1 });
  });
});

describe('completions', () => {
  test('of a plain Job never change', () => {
    expect(found(stored({ completions: 2 }), (spec) => (spec['completions'] = 3))).toEqual(['spec.completions | 3: field is immutable']);
  });
  test('of an Indexed Job change together with parallelism', () => {
    const job = stored({ completionMode: 'Indexed', completions: 3, parallelism: 3 });
    expect(found(job, (spec) => Object.assign(spec, { completions: 5, parallelism: 5 }))).toEqual([]);
    expect(found(job, (spec) => Object.assign(spec, { completions: 5, parallelism: 4 }))).toEqual([
      'spec.completions | 5: can only be modified in tandem with spec.parallelism',
    ]);
  });
});

describe('what may always change', () => {
  test.each<[string, unknown]>([
    ['parallelism', 7],
    ['backoffLimit', 1],
    ['activeDeadlineSeconds', 9],
    ['ttlSecondsAfterFinished', 0],
    ['suspend', true],
    ['podReplacementPolicy', 'Failed'],
    ['manualSelector', true],
  ])('%s', (field, value) => {
    const finished = { conditions: [{ type: 'Complete', status: 'True' }] };
    expect(found(stored({}, finished), (spec) => (spec[field] = value))).toEqual([]);
  });
});

test('a rule that an update breaks is reported twice, and an immutable field once', () => {
  expect(found(stored({}), (spec) => (spec['managedBy'] = 'x'))).toEqual([
    'spec.managedBy | "x": must be a domain-prefixed path (such as "acme.io/foo")',
    'spec.managedBy | "x": must be a domain-prefixed path (such as "acme.io/foo")',
    'spec.managedBy | "x": field is immutable',
  ]);
});

describe('the template', () => {
  const asleep = { suspend: true };
  const suspended = { conditions: [{ type: 'Suspended', status: 'True' }], startTime: '2026-01-01T00:00:00Z' };
  const directives: [string, (spec: Spec) => void][] = [
    ['a node selector', (spec) => (spec.template.spec['nodeSelector'] = { a: 'b' })],
    ['tolerations', (spec) => (spec.template.spec['tolerations'] = [{ operator: 'Exists' }])],
    ['scheduling gates', (spec) => (spec.template.spec['schedulingGates'] = [{ name: 'a/b' }])],
    ['no affinity any more', (spec) => delete spec.template.spec['affinity']],
    ['a label', (spec) => (spec.template.metadata.labels = { ...spec.template.metadata.labels, a: 'b' })],
    ['a finalizer', (spec) => (spec.template.metadata.finalizers = ['anything at all'])],
    ['resources', (spec) => (spec.template.spec['containers'] = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }])],
  ];
  test.each(directives)('accepts %s while the Job is suspended and has not started', (_what, edit) => {
    expect(found(stored(asleep), edit)).toEqual([]);
  });
  test.each(directives)('accepts %s while the Job is suspended again and its pods are gone', (_what, edit) => {
    expect(found(stored(asleep, suspended), edit)).toEqual([]);
  });
  test.each(directives)('refuses %s while pods are still active', (_what, edit) => {
    expect(found(stored(asleep, { ...suspended, active: 1 }), edit)).toEqual(['spec.template | field is immutable']);
  });
  test.each(directives)('refuses %s while the Job runs', (_what, edit) => {
    expect(found(stored({}), edit)).toEqual(['spec.template | field is immutable']);
  });
  test('may change in the very write that resumes the Job, not in the one that suspends it', () => {
    const resume = (spec: Spec) => Object.assign(spec, { suspend: false }).template.spec;
    expect(found(stored(asleep), (spec) => (resume(spec)['nodeSelector'] = { a: 'b' }))).toEqual([]);
    const suspend = (spec: Spec) => Object.assign(spec, { suspend: true }).template.spec;
    expect(found(stored({}), (spec) => (suspend(spec)['nodeSelector'] = { a: 'b' }))).toEqual(['spec.template | field is immutable']);
  });
  test('never changes its image, its containers, or its affinity to pods', () => {
    const refused = ['spec.template.spec | field is immutable'];
    expect(found(stored(asleep), (spec) => (spec.template.spec['containers'] = [{ name: 'c', image: 'other' }]))).toEqual(refused);
    expect(found(stored(asleep), (spec) => (spec.template.spec['containers'] = [{ name: 'd', image: 'i' }]))).toEqual(refused);
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] };
    expect(found(stored(asleep), (spec) => (spec.template.spec['affinity'] = { podAffinity }))).toEqual(refused);
  });
});
