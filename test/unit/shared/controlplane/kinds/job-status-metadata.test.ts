import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HookServer, startHookServer } from '../../../../conformance/support/hook-server.ts';
import { aControlPlane, type Bench, JOBS, MERGE } from '../a-control-plane.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await aControlPlane();
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const metadata = { name: 'j', labels: { old: '1' }, finalizers: ['example.com/a'] };
  await bench.call('POST', JOBS, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } });
});
afterEach(() => bench.plane.close());

const changed = { labels: { old: '1', new: '2' }, annotations: { told: 'yes' }, finalizers: ['example.com/a', 'example.com/b'] };

describe('a write of the status of a Job', () => {
  test('keeps labels, annotations and finalizers that a PATCH brings, and not the spec', async () => {
    const patch = { metadata: changed, spec: { parallelism: 9 }, status: { active: 1 } };
    const { body } = await bench.call('PATCH', `${JOBS}/j/status`, patch, MERGE);
    expect(body).toMatchObject({ metadata: { ...changed, generation: 1 }, spec: { parallelism: 1 }, status: { active: 1 } });
    expect((await bench.call('GET', `${JOBS}/j`)).body).toMatchObject({ metadata: changed });
  });

  test('keeps them from a PUT as well', async () => {
    const { body: current } = await bench.call('GET', `${JOBS}/j`);
    const { status, text } = await bench.call('PUT', `${JOBS}/j/status`, { ...current, metadata: { ...current.metadata, ...changed } });
    expect(status, text).toBe(200);
    expect((await bench.call('GET', `${JOBS}/j`)).body).toMatchObject({ metadata: changed });
  });

  test('that takes the last finalizer off a deleted Job ends it', async () => {
    await bench.call('DELETE', `${JOBS}/j?propagationPolicy=Background`);
    expect((await bench.call('PATCH', `${JOBS}/j/status`, { metadata: { finalizers: null }, status: { failed: 1 } }, MERGE)).status).toBe(
      200,
    );
    expect((await bench.call('GET', `${JOBS}/j`)).status).toBe(404);
  });
});

describe('webhooks are told the field manager of', () => {
  let hooks: HookServer;
  beforeEach(async () => {
    hooks = await startHookServer();
    hooks.plan('see', {});
    const { status, text } = await bench.call('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'v' },
      webhooks: [
        {
          name: 'v.example.com',
          clientConfig: { url: `${hooks.url}/see`, caBundle: hooks.caBundle },
          rules: [{ operations: ['*'], apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs', 'jobs/status'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    });
    expect(status, text).toBe(201);
  });
  afterEach(() => hooks.close());
  const seen = (): unknown => (hooks.calls('see').at(-1) as { options: unknown } | undefined)?.options;

  test('a create', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'k' }, spec: { template } };
    expect((await bench.call('POST', `${JOBS}?fieldManager=me`, job)).status).toBe(201);
    expect(seen()).toEqual({ kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' });
  });

  test.each(['', '/status'])('an update and every patch of jobs%s', async (subresource) => {
    const { body: current } = await bench.call('GET', `${JOBS}/j`);
    const expected = { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' };
    expect((await bench.call('PUT', `${JOBS}/j${subresource}?fieldManager=me`, current)).status).toBe(200);
    expect(seen()).toEqual(expected);
    const patches: [string, unknown][] = [
      ['application/merge-patch+json', { metadata: { labels: { m: '1' } } }],
      ['application/strategic-merge-patch+json', { metadata: { labels: { s: '1' } } }],
      ['application/json-patch+json', [{ op: 'add', path: '/metadata/labels/j', value: '1' }]],
      ['application/apply-patch+yaml', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', labels: { a: '1' } } }],
    ];
    for (const [type, body] of patches) {
      expect((await bench.call('PATCH', `${JOBS}/j${subresource}?fieldManager=me`, body, { 'content-type': type })).status, type).toBe(200);
      expect(seen(), type).toEqual(expected);
    }
  });

  test('nobody in particular, where the writer names none', async () => {
    await bench.call('PATCH', `${JOBS}/j`, { metadata: { labels: { m: '1' } } }, MERGE);
    expect(seen()).toEqual({ kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' });
  });
});
