import { beforeEach, expect, test } from 'vitest';
import { aControlPlane, type Bench } from '../a-control-plane.ts';

const WEB = '/apis/apps/v1/namespaces/default/deployments/web';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const spec = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};
const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { ...spec, replicas: 2 } };
let call: Bench['call'];
beforeEach(async () => {
  ({ call } = await aControlPlane());
  await call('PATCH', `${WEB}?fieldManager=owner`, applied, APPLY);
});

test('the Scale of a Deployment shows what it asks for and has, and its selector as text', async () => {
  const { status, body } = await call('GET', `${WEB}/scale`);
  expect([status, body['kind'], body['spec'], body['status']]).toEqual([
    200,
    'Scale',
    { replicas: 2 },
    { replicas: 0, selector: 'app=web' },
  ]);
});

test('the Scale of a ReplicationController shows its selector, which is a map, as text', async () => {
  const controller = { metadata: { name: 'old' }, spec: { replicas: 2, template: spec.template } };
  expect((await call('POST', '/api/v1/namespaces/default/replicationcontrollers', controller)).status).toBe(201);
  const { body } = await call('GET', '/api/v1/namespaces/default/replicationcontrollers/old/scale');
  expect([body['spec'], body['status']]).toEqual([{ replicas: 2 }, { replicas: 0, selector: 'app=web' }]);
});

test('a Scale takes the replicas from whoever owned them', async () => {
  expect((await call('PATCH', `${WEB}/scale?fieldManager=scaler`, { spec: { replicas: 5 } }, MERGE)).body['spec']).toEqual({ replicas: 5 });
  const { body } = await call('GET', WEB);
  expect([body.metadata.generation, (body['spec'] as { replicas: number }).replicas]).toEqual([2, 5]);
  expect(body.metadata.managedFields).toContainEqual({
    manager: 'scaler',
    operation: 'Update',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    subresource: 'scale',
  });
  const conflict = await call('PATCH', `${WEB}?fieldManager=owner`, applied, APPLY);
  expect([conflict.status, conflict.body['message']]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas',
  ]);
});

test('a Scale can be applied, by force where another one owns the replicas', async () => {
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 7 } };
  expect((await call('PATCH', `${WEB}/scale?fieldManager=scaler`, scale, APPLY)).status).toBe(409);
  const forced = await call('PATCH', `${WEB}/scale?fieldManager=scaler&force=true`, scale, APPLY);
  expect([forced.status, forced.body['spec']]).toEqual([200, { replicas: 7 }]);
});

test.each([
  [
    { spec: { replicas: -1 } },
    422,
    'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    { metadata: { resourceVersion: '1' } },
    409,
    'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again',
  ],
])('a Scale with %j is refused', async (patch, status, message) => {
  const answer = await call('PATCH', `${WEB}/scale`, patch, MERGE);
  expect([answer.status, answer.body['message']]).toEqual([status, message]);
});

test('a kind without a scale has none', async () => {
  expect((await call('GET', '/api/v1/namespaces/default/services/kubernetes/scale')).status).toBe(404);
});

test('a StatefulSet is scaled by its Scale', async () => {
  const DB = '/apis/apps/v1/namespaces/default/statefulsets/db';
  const db = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' }, spec: { ...spec, serviceName: 'db' } };
  expect((await call('POST', '/apis/apps/v1/namespaces/default/statefulsets', db)).status).toBe(201);
  expect((await call('PATCH', `${DB}/scale`, { spec: { replicas: 3 } }, MERGE)).body).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 3 },
    status: { replicas: 0, selector: 'app=web' },
  });
  expect((await call('GET', DB)).body['status']).toEqual({ replicas: 0, availableReplicas: 0 });
});
