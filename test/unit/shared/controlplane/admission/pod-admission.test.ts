import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../shared/controlplane/admission/admission-request.ts';
import { createPodAdmission } from '../../../../../shared/controlplane/admission/pod-admission.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { anObject } from '../a-served-resource.ts';

type ClassParts = { value?: number; globalDefault?: boolean; preemptionPolicy?: string };
const aClass = (name: string, parts: ClassParts = {}): AnyObject => anObject(name, parts);

const admissionWith = (...classes: readonly AnyObject[]) =>
  createPodAdmission({ priorityClasses: () => classes, priorityClass: (name) => classes.find(({ metadata }) => metadata.name === name) });
const aRequest = (parts: Partial<AdmissionRequest>): AdmissionRequest => ({
  operation: 'CREATE',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  name: '',
  namespace: 'ns',
  object: undefined,
  oldObject: undefined,
  options: {},
  dryRun: false,
  user: { name: 'u', groups: [] },
  warn: () => undefined,
  ...parts,
});
const created = (spec: object, classes: readonly AnyObject[] = [], parts: Partial<AdmissionRequest> = {}) => {
  const object = anObject('p', { spec: structuredClone(spec) });
  void admissionWith(...classes).mutate(aRequest({ object, ...parts }));
  return object['spec'] as Record<string, unknown>;
};
const updated = (spec: object, previous: object) =>
  created(spec, [], { operation: 'UPDATE', oldObject: anObject('p', { spec: previous }) });

const trouble = (key: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
const usual = { tolerations: [trouble('not-ready'), trouble('unreachable')] };

describe('the priority of a new pod', () => {
  test('is 0 where nobody says anything', () => {
    expect(created({})).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
    expect(created({})).not.toHaveProperty('priorityClassName');
  });

  test('is that of its class', () => {
    expect(created({ priorityClassName: 'high' }, [aClass('high', { value: 9, preemptionPolicy: 'Never' })])).toMatchObject({
      priority: 9,
      preemptionPolicy: 'Never',
      priorityClassName: 'high',
    });
  });

  test('is that of the default class where it names none; of several defaults the lowest counts', () => {
    const classes = [
      aClass('a', { value: 5, globalDefault: true }),
      aClass('b', { value: 2, globalDefault: true }),
      aClass('c', { value: 1 }),
    ];
    expect(created({}, classes)).toMatchObject({ priority: 2, priorityClassName: 'b' });
    expect(created({ priorityClassName: 'c' }, classes)).toMatchObject({ priority: 1, priorityClassName: 'c' });
  });

  test('may be written where it is right', () => {
    expect(
      created({ priority: 9, preemptionPolicy: 'PreemptLowerPriority', priorityClassName: 'high' }, [aClass('high', { value: 9 })]),
    ).toMatchObject({ priority: 9 });
    expect(created({ priority: 0 })).toMatchObject({ priority: 0 });
  });

  test.each<[object, string]>([
    [{ priorityClassName: 'constructor' }, 'no PriorityClass with name constructor was found'],
    [
      { priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'Never' },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ])('is refused with %j', (spec, why) => {
    expect(() => created(spec, [aClass('high', { value: 9 })])).toThrow(`pods "p" is forbidden: ${why}`);
  });

  test('is refused under the name that the pod has so far', () => {
    const refusal = (metadata: { name: string; generateName?: string }) => {
      const object = anObject('', { spec: { priorityClassName: 'none' } }, metadata);
      return () => void admissionWith().mutate(aRequest({ object }));
    };
    expect(refusal({ name: '', generateName: 'p-' })).toThrow(/^pods "p-" is forbidden/);
    expect(refusal({ name: '' })).toThrow(/^pods "Unknown" is forbidden/);
  });
});

test('an updated pod keeps its priority where the update leaves it out', () => {
  expect(updated({}, { priority: 9, preemptionPolicy: 'Never' })).toEqual({ priority: 9, preemptionPolicy: 'Never', ...usual });
  expect(updated({ priority: 1 }, { priority: 9 })).toMatchObject({ priority: 1 });
  expect(updated({}, {})).toEqual(usual);
});

describe('a pod on a node in trouble', () => {
  test('stays for five minutes', () => {
    expect(created({})).toMatchObject(usual);
  });

  test('does as it says where it says so', () => {
    const forever = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
    expect(created({ tolerations: [forever] })['tolerations']).toEqual([forever, trouble('unreachable')]);
    expect(created({ tolerations: [{ operator: 'Exists' }] })['tolerations']).toEqual([{ operator: 'Exists' }]);
    expect(created({ tolerations: [{ key: forever.key, operator: 'Exists' }] })['tolerations']).toHaveLength(2);
  });

  test('is not helped by a toleration of another effect', () => {
    const other = { operator: 'Exists', effect: 'NoSchedule' };
    expect(created({ tolerations: [other] })['tolerations']).toEqual([other, ...usual.tolerations]);
  });
});

test.each<[string, Partial<AdmissionRequest>]>([
  ['subresources of pods', { subresource: 'status' }],
  ['other resources', { resource: { group: 'apps', version: 'v1', resource: 'pods' } }],
  ['deletions', { operation: 'DELETE', object: undefined }],
])('%s are not changed', (_what, parts) => {
  expect(created({}, [], parts)).toEqual({});
});

describe('a priority class', () => {
  const priorityClasses = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };
  const judge =
    (object: AnyObject, operation: 'CREATE' | 'UPDATE' | 'DELETE', ...present: AnyObject[]) =>
    () =>
      void admissionWith(...present).validate(aRequest({ resource: priorityClasses, operation, object, name: object.metadata.name }));
  const byDefault = (name: string) => aClass(name, { value: 1, globalDefault: true });

  test('is the default alone', () => {
    expect(judge(byDefault('a'), 'CREATE')).not.toThrow();
    expect(judge(byDefault('a'), 'CREATE', byDefault('b'))).toThrow(
      'priorityclasses.scheduling.k8s.io "a" is forbidden: PriorityClass b is already marked as default. Only one default can exist',
    );
    expect(judge(byDefault('a'), 'UPDATE', byDefault('b'))).toThrow(/already marked as default/);
  });

  test('that is no default, or is the default already, or goes, is no trouble', () => {
    expect(judge(aClass('a'), 'CREATE', byDefault('b'))).not.toThrow();
    expect(judge(byDefault('a'), 'UPDATE', byDefault('a'))).not.toThrow();
    expect(judge(byDefault('a'), 'DELETE', byDefault('b'))).not.toThrow();
  });
});
