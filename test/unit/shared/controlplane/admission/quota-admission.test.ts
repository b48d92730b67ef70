import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../shared/controlplane/admission/admission-request.ts';
import { createQuotaAdmission } from '../../../../../shared/controlplane/admission/quota-admission.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';

const meta = (name: string) => ({ name, namespace: 'ns', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });
const pod = (name: string, cpu?: string, phase = 'Running'): AnyObject => ({
  metadata: meta(name),
  spec: { containers: [{ name: 'c', image: 'i', ...(cpu === undefined ? {} : { resources: { requests: { cpu } } }) }] },
  status: { phase },
});
const quota = (hard: Record<string, string>, status?: object): AnyObject => ({
  metadata: meta('q'),
  spec: { hard },
  ...omitUndefined({ status }),
});

/** Creates pods under a quota; returns what is refused, and the quota as it stands afterwards. */
const admit = (start: AnyObject, present: AnyObject[], ...created: AnyObject[]) => {
  let current = start;
  const pods = [...present];
  const admission = createQuotaAdmission({ quotas: () => [current], objects: () => pods, store: (next) => (current = next) });
  const refusals = created.flatMap((object) => {
    try {
      void admission.validate(createOf(object));
      pods.push(object);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  return { refusals, quota: current };
};
const createOf = (object: AnyObject): AdmissionRequest => ({
  operation: 'CREATE',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  name: object.metadata.name,
  namespace: 'ns',
  object,
  oldObject: undefined,
  options: {},
  dryRun: false,
  user: { name: 'u', groups: [] },
  warn: () => undefined,
});

describe('a quota', () => {
  test('limits the number of pods, of which those that have ended do not count', () => {
    expect(admit(quota({ pods: '2' }), [pod('old', '1', 'Succeeded')], pod('a'), pod('b'), pod('c')).refusals).toEqual([
      'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    ]);
  });
  test('limits what pods request together', () => {
    expect(admit(quota({ 'requests.cpu': '2' }), [], pod('a', '1500m'), pod('b', '600m')).refusals).toEqual([
      'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=1500m, limited: requests.cpu=2',
    ]);
  });
  test('makes every container say what it asks for', () => {
    expect(admit(quota({ cpu: '2', 'limits.memory': '1Gi' }), [], pod('a', '1')).refusals).toEqual([
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c',
    ]);
  });
  test('whose status is maintained counts by it, and is charged', () => {
    const maintained = quota({ pods: '9' }, { hard: { pods: '2' }, used: { pods: '1' } });
    const { refusals, quota: after } = admit(maintained, [], pod('a'), pod('b'));
    expect(after['status']).toEqual({ hard: { pods: '2' }, used: { pods: '2' } });
    expect(refusals).toEqual(['pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2']);
  });
  test('whose use is not known yet lets nothing through', () => {
    expect(admit(quota({}, { hard: { pods: '2' } }), [], pod('a')).refusals).toEqual([
      'pods "a" is forbidden: status unknown for quota: q, resources: pods',
    ]);
  });
  test('counts the pods that its scopes and its selector are about', () => {
    const scoped = (spec: object): AnyObject => ({ metadata: meta('q'), spec: { hard: { pods: '0' }, ...spec } });
    const ofClass = (name: string): AnyObject => ({ metadata: meta(name), spec: { containers: [{ name: 'c' }], priorityClassName: name } });
    const selecting = (scopeName: string, operator: string, values?: string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName, operator, values }] },
    });
    const refused = (spec: object, object: AnyObject): boolean => admit(scoped(spec), [], object).refusals.length > 0;
    expect(refused({ scopes: ['BestEffort'] }, pod('p'))).toBe(true);
    expect(refused({ scopes: ['BestEffort', 'Terminating'] }, pod('p'))).toBe(false);
    expect(refused(selecting('PriorityClass', 'In', ['high']), ofClass('high'))).toBe(true);
    expect(refused(selecting('PriorityClass', 'In', ['high']), ofClass('low'))).toBe(false);
    expect(refused(selecting('PriorityClass', 'NotIn', ['high']), ofClass('low'))).toBe(true);
    expect(refused(selecting('PriorityClass', 'Exists'), pod('p'))).toBe(false);
    expect(refused(selecting('NotBestEffort', 'Exists'), pod('p', '1'))).toBe(true);
  });
});
