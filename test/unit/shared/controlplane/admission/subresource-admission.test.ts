import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HookServer, startHookServer } from '../../../../conformance/support/hook-server.ts';
import { aControlPlane, type Bench, MERGE, pod, PODS } from '../a-control-plane.ts';

let bench: Bench;
let hooks: HookServer;
beforeEach(async () => {
  [bench, hooks] = [await aControlPlane(), await startHookServer()];
});
afterEach(async () => {
  await bench.plane.close();
  await hooks.close();
});

/** A mutating webhook for one subresource that answers with this JSON patch. */
const mutate = async (apiGroup: string, resource: string, operation: string, patch: readonly object[]): Promise<void> => {
  hooks.plan('mutate', { patch });
  const { status, text } = await bench.call('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'm' },
    webhooks: [
      {
        name: 'm.example.com',
        clientConfig: { url: `${hooks.url}/mutate`, caBundle: hooks.caBundle },
        rules: [{ operations: [operation], apiGroups: [apiGroup], apiVersions: ['v1'], resources: [resource] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  });
  expect(status, text).toBe(201);
};
const reviewed = (): unknown => hooks.calls('mutate').at(-1);

test('a pod goes to the node that a webhook put into its binding', async () => {
  await mutate('', 'pods/binding', 'CREATE', [{ op: 'replace', path: '/target/name', value: 'other' }]);
  await bench.call('POST', PODS, pod('p'));
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'asked' } };
  expect((await bench.call('POST', `${PODS}/p/binding`, binding)).status).toBe(201);
  expect((await bench.call('GET', `${PODS}/p`)).body).toMatchObject({ spec: { nodeName: 'other' } });
});

test('an eviction takes the grace period that a webhook put into it', async () => {
  const running = { ...pod('p'), spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };
  await bench.call('POST', PODS, running);
  await mutate('', 'pods/eviction', 'CREATE', [{ op: 'add', path: '/deleteOptions', value: { gracePeriodSeconds: 77 } }]);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
  expect((await bench.call('POST', `${PODS}/p/eviction`, eviction)).status).toBe(201);
  expect((await bench.call('GET', `${PODS}/p`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 77 } });
});

test('a webhook sees a scale as a Scale, and what it makes of it counts', async () => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  await bench.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }],
    },
  });
  await bench.clock.advance(1000);
  const widgets = '/apis/example.com/v1/widgets';
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { replicas: 1, colour: 'red' } };
  expect((await bench.call('POST', widgets, widget)).status).toBe(201);
  await mutate('example.com', 'widgets/scale', 'UPDATE', [{ op: 'replace', path: '/spec/replicas', value: 9 }]);
  const scaled = await bench.call('PATCH', `${widgets}/w/scale`, { spec: { replicas: 3 } }, MERGE);
  expect(scaled.body).toMatchObject({ kind: 'Scale', spec: { replicas: 9 } });
  expect(reviewed()).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    resource: { group: 'example.com', resource: 'widgets' },
    subResource: 'scale',
    object: { kind: 'Scale', spec: { replicas: 3 } },
    oldObject: { kind: 'Scale', spec: { replicas: 1 } },
  });
  expect((await bench.call('GET', `${widgets}/w`)).body).toMatchObject({ spec: { replicas: 9, colour: 'red' } });
});
