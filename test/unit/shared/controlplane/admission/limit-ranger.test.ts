import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../shared/controlplane/admission/admission-request.ts';
import { createLimitRanger } from '../../../../../shared/controlplane/admission/limit-ranger.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';

const metadata = { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

/** A pod with these resources of its one container, as the limits of its namespace leave it. */
const admit = (limit: object, resources: object = {}): AnyObject => {
  const object: AnyObject = { metadata: { ...metadata }, spec: { containers: [{ name: 'c', image: 'i', resources }] } };
  const request: AdmissionRequest = {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subresource: '',
    name: 'p',
    namespace: 'ns',
    object,
    oldObject: undefined,
    options: {},
    dryRun: false,
    user: { name: 'u', groups: [] },
    warn: () => undefined,
  };
  const admission = createLimitRanger(() => [{ metadata, spec: { limits: [limit] } }]);
  void admission.mutate(request);
  void admission.validate(request);
  return object;
};
const container = (fields: object): object => ({ type: 'Container', ...fields });

describe('limits of a namespace', () => {
  test('give a container what it does not say, and say so', () => {
    const limit = container({ default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1', memory: '1Gi' } });
    const pod = admit(limit, { requests: { memory: '1Mi' } });
    expect(pod['spec']).toMatchObject({
      containers: [{ resources: { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '2', memory: '1Gi' } } }],
    });
    expect(pod.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c',
    });
  });
  test('leave a pod alone that says all', () => {
    const pod = admit(container({ default: { cpu: '2' }, defaultRequest: { cpu: '1' } }), { requests: { cpu: '1' }, limits: { cpu: '1' } });
    expect(pod.metadata.annotations).toBeUndefined();
  });
  test.each<[string, object, object, string]>([
    ['asks for nothing', { min: { cpu: '1' } }, {}, 'minimum cpu usage per Container is 1.  No request is specified'],
    [
      'asks for too little',
      { min: { cpu: '1' } },
      { requests: { cpu: '500m' } },
      'minimum cpu usage per Container is 1, but request is 500m',
    ],
    ['has no limit', { max: { cpu: '1' } }, {}, 'maximum cpu usage per Container is 1.  No limit is specified'],
    ['may use too much', { max: { cpu: '1' } }, { limits: { cpu: '2' } }, 'maximum cpu usage per Container is 1, but limit is 2'],
    [
      'may use far more than it asks for',
      { maxLimitRequestRatio: { cpu: '2' } },
      { requests: { cpu: '1' }, limits: { cpu: '3' } },
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
    [
      'breaks several limits',
      { max: { cpu: '1', memory: '1Gi' } },
      { limits: { cpu: '2' } },
      '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi.  No limit is specified]',
    ],
  ])('refuse a container that %s', (_, limit, resources, why) => {
    expect(() => admit(container(limit), resources)).toThrow(`pods "p" is forbidden: ${why}`);
  });
  test('refuse a pod whose containers together use too much', () => {
    expect(() => admit({ type: 'Pod', max: { cpu: '1' } }, { limits: { cpu: '2' } })).toThrow(
      'pods "p" is forbidden: maximum cpu usage per Pod is 1, but limit is 2',
    );
  });
});
