import { describe, expect, test } from 'vitest';
import {
  coverageOf,
  type Equivalent,
  inVersion,
  namespaceSelected,
  objectSelected,
} from '../../../../../shared/controlplane/admission/request-selection.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { requirementsOf } from '../../../../../shared/kube/selectors.ts';
import { anObject } from '../a-served-resource.ts';
import { anAdmissionRequest } from './webhook/an-admission-request.ts';

const rule = (version: string) => ({ operations: ['*'], apiGroups: [''], apiVersions: [version], resources: ['configmaps'], scope: '*' });
const other: Equivalent = {
  resource: { group: '', version: 'v2', resource: 'configmaps' },
  kind: { group: '', version: 'v2', kind: 'ConfigMap' },
  fromRequest: (object) => ({ ...object, seen: 'v2' }),
  toRequest: (object) => object,
};

describe('rules', () => {
  test('cover a request as it is, else in an equivalent version', () => {
    const covered = (version: string, policy?: string) => coverageOf([rule(version)], policy, anAdmissionRequest(), () => [other]);
    expect(covered('v1')).toEqual({ version: undefined });
    expect(covered('v2')).toEqual({ version: other });
    expect(covered('v2', 'Exact')).toBeUndefined();
    expect(covered('v3')).toBeUndefined();
  });

  test('may be narrowed, in every version', () => {
    for (const version of ['v1', 'v2']) {
      expect(
        coverageOf(
          [rule(version)],
          undefined,
          anAdmissionRequest(),
          () => [other],
          () => false,
        ),
      ).toBeUndefined();
    }
  });
});

test('a request is converted, old object and new, into the version of the rule', () => {
  const request = anAdmissionRequest({ oldObject: undefined });
  expect(inVersion(request, undefined)).toBe(request);
  expect(inVersion(request, other)).toMatchObject({
    resource: { version: 'v2' },
    kind: { version: 'v2' },
    object: { seen: 'v2' },
    oldObject: undefined,
  });
});

describe('selectors', () => {
  const team = requirementsOf({ matchLabels: { team: 'a' } });
  const labels = (name: string) => (name === 'ns' ? { team: 'a' } : undefined);

  test('ask for labels of the namespace, or of the Namespace that is written', () => {
    const namespaces = { resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'new', name: 'new' };
    expect(namespaceSelected(team, anAdmissionRequest(), labels)).toBe(true);
    expect(namespaceSelected(team, anAdmissionRequest({ ...namespaces, object: anObject('new') }), labels)).toBe(false);
    expect(
      namespaceSelected(team, anAdmissionRequest({ ...namespaces, object: anObject('new', {}, { labels: { team: 'a' } }) }), labels),
    ).toBe(true);
    expect(namespaceSelected(team, anAdmissionRequest({ namespace: '' }), labels)).toBe(true);
    expect(() => namespaceSelected(team, anAdmissionRequest({ namespace: 'gone' }), labels)).toThrow(StatusError);
    expect(namespaceSelected([], anAdmissionRequest({ namespace: 'gone' }), labels)).toBe(true);
  });

  test('are content with the object that was or that will be', () => {
    expect(objectSelected(team, anAdmissionRequest())).toBe(false);
    expect(objectSelected(team, anAdmissionRequest({ oldObject: anObject('a', {}, { labels: { team: 'a' } }) }))).toBe(true);
    expect(objectSelected([], anAdmissionRequest({ object: undefined }))).toBe(true);
  });
});
