import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../shared/controlplane/admission/admission-request.ts';
import { createLimitRanger } from '../../../../../shared/controlplane/admission/limit-ranger.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { aControlPlane, type Bench, PODS, type Reply } from '../a-control-plane.ts';

const metadata = { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

/** A pod with these resources of its one container, as the limits of its namespace leave it. */
const admit = (limit: object, resources: object = {}, spec: object = { containers: [{ name: 'c', image: 'i', resources }] }): AnyObject => {
  const object: AnyObject = { metadata: { ...metadata }, spec };
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
  test('leave a pod without containers to its validation', () => {
    expect(admit(container({ default: { cpu: '1' } }), {}, { containers: null })['spec']).toEqual({ containers: null });
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

const RANGES = '/api/v1/namespaces/default/limitranges';

async function aNamespaceWith(...ranges: object[][]): Promise<Bench> {
  const bench = await aControlPlane();
  for (const [i, limits] of ranges.entries()) {
    const { status } = await bench.call('POST', RANGES, {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: `l${i}` },
      spec: { limits },
    });
    expect(status).toBe(201);
  }
  return bench;
}

const create = (bench: Bench, resources: object, spec: object = {}): Promise<Reply> =>
  bench.call('POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i', resources }], ...spec },
  });

type Spec = { containers: { resources: unknown }[]; initContainers: { resources: unknown }[] };
const specOf = ({ body }: Reply): Spec => body['spec'] as Spec;

describe('a control plane with LimitRanges', () => {
  test('gives containers what they do not say, and tells so', async () => {
    const bench = await aNamespaceWith([{ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } }]);
    const reply = await create(bench, { limits: { memory: '2Gi' } }, { initContainers: [{ name: 'i', image: 'i' }] });
    expect(specOf(reply).containers[0]?.resources).toEqual({ limits: { cpu: '2', memory: '2Gi' }, requests: { cpu: '1', memory: '2Gi' } });
    expect(specOf(reply).initContainers[0]?.resources).toEqual({
      limits: { cpu: '2', memory: '1Gi' },
      requests: { cpu: '1', memory: '1Gi' },
    });
    expect(reply.body.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; cpu limit for container c; cpu, memory request for init container i; cpu, memory limit for init container i',
    });
  });
  test('refuses a pod whose containers ask for too much together', async () => {
    const bench = await aNamespaceWith([{ type: 'Pod', max: { memory: '1Gi' } }]);
    const two = { initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always', resources: { limits: { memory: '600Mi' } } }] };
    const { body } = await create(bench, { limits: { memory: '500Mi' } }, two);
    expect(body['message']).toBe('pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1100Mi');
    expect((await create(bench, {})).body['message']).toBe(
      'pods "p" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified',
    );
  });
  test('leaves pods alone that are there already', async () => {
    const bench = await aNamespaceWith();
    await create(bench, {});
    await bench.call('POST', RANGES, {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'l' },
      spec: { limits: [{ type: 'Pod', min: { cpu: '1' } }] },
    });
    const { status } = await bench.call(
      'PATCH',
      `${PODS}/p`,
      { metadata: { labels: { a: 'b' } } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(status).toBe(200);
  });
});
