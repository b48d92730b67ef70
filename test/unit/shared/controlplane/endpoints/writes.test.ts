import { describe, expect, test } from 'vitest';
import { aControlPlane, type Bench, CONFIG_MAPS, configMap, MERGE } from '../a-control-plane.ts';

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';

describe('owner references that stand there twice', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const other = { ...owner, name: 'q' };

  test('are dropped with a warning, in a create and in an update', async () => {
    const { call } = await aControlPlane();
    const created = await call('POST', CONFIG_MAPS, configMap('a', {}, { ownerReferences: [owner, other, owner] }));
    expect(created.body.metadata.ownerReferences).toEqual([owner, other]);
    expect(String(created.warning)).toContain('.metadata.ownerReferences contains duplicate entries; API server dedups');
    const updated = await call('PUT', `${CONFIG_MAPS}/a`, configMap('a', {}, { ownerReferences: [owner, owner] }));
    expect(updated.body.metadata.ownerReferences).toEqual([owner]);
    expect(String(updated.warning)).toContain('duplicate UID(s) observed: u');
  });

  test('come to light after admission in a patch', async () => {
    const { call } = await aControlPlane();
    await call('POST', CONFIG_MAPS, configMap('a'));
    const patched = await call('PATCH', `${CONFIG_MAPS}/a`, { metadata: { ownerReferences: [owner, owner] } }, MERGE);
    expect(patched.body.metadata.ownerReferences).toEqual([owner]);
    expect(String(patched.warning)).toContain('duplicate entries after mutating admission happens');
  });
});

describe('what a patch makes of kind and apiVersion', () => {
  const patched = async (patch: object): Promise<Awaited<ReturnType<Bench['call']>>> => {
    const { call } = await aControlPlane();
    await call('POST', CONFIG_MAPS, configMap('a', { data: { k: 'v' } }));
    return call('PATCH', `${CONFIG_MAPS}/a`, patch, MERGE);
  };

  test('no kind is the kind of the path', async () => {
    expect((await patched({ kind: null })).status).toBe(200);
  });

  test('no version leaves an object of which the server knows no field', async () => {
    const answer = await patched({ apiVersion: null });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { message: expect.stringContaining('was undeterminable: name must be provided') },
    ]);
    expect(answer.warning).toEqual([String.raw`299 - "unknown field \"data\""`, String.raw`299 - "unknown field \"metadata\""`]);
  });

  test('another kind cannot be converted', async () => {
    const { status, body } = await patched({ kind: 'Secret' });
    expect([status, body]).toMatchObject([
      422,
      { message: expect.stringMatching(/converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/) },
    ]);
  });
});

test('null is a patch that says nothing, but no merge patch', async () => {
  const { call } = await aControlPlane();
  await call('POST', CONFIG_MAPS, configMap('a'));
  expect((await call('PATCH', `${CONFIG_MAPS}/a`, 'null', STRATEGIC)).status).toBe(200);
  expect((await call('PATCH', `${CONFIG_MAPS}/a`, 'null', JSON_PATCH)).status).toBe(200);
  expect((await call('PATCH', `${CONFIG_MAPS}/a`, 'null', MERGE)).body).toMatchObject({ code: 400, message: 'Invalid JSON Patch' });
});

test('an update says where its object is wrong before it looks for the one that is there', async () => {
  const { call } = await aControlPlane();
  const elsewhere = configMap('none', {}, { namespace: 'other' });
  expect((await call('PUT', `${CONFIG_MAPS}/none`, elsewhere)).body).toMatchObject({
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  });
});

test('an integer is written as one', async () => {
  const { call } = await aControlPlane();
  const lease = (duration: string): string =>
    `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"leaseDurationSeconds":${duration}}}`;
  for (const duration of ['1.0', '1e1']) expect((await call('POST', LEASES, lease(duration))).status).toBe(400);
  expect((await call('POST', LEASES, lease('10'))).status).toBe(201);
});

describe('keys that a YAML body has twice', () => {
  const yaml = { 'content-type': 'application/yaml' };
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: one\n  k: two\n';

  test('are warned of by line', async () => {
    const { call } = await aControlPlane();
    expect((await call('POST', CONFIG_MAPS, body, yaml)).warning).toEqual([String.raw`299 - "line 7: key \"k\" already set in map"`]);
    const applied = await call('PATCH', `${CONFIG_MAPS}/c?fieldManager=m&force=true`, body, APPLY);
    expect(applied.warning).toEqual([String.raw`299 - "line 7: key \"k\" already set in map"`]);
  });

  test('are refused where that is asked for', async () => {
    const { call } = await aControlPlane();
    const why = 'error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "k" already set in map';
    expect((await call('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, body, yaml)).body).toMatchObject({
      message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${why}`,
    });
    expect((await call('PATCH', `${CONFIG_MAPS}/c?fieldManager=m&fieldValidation=Strict`, body, APPLY)).body).toMatchObject({
      message: `error strict decoding YAML: ${why}`,
    });
  });
});

describe('an apply that would create', () => {
  const applied = (metadata: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

  test('needs the name of the path, and must not name a uid', async () => {
    const { call } = await aControlPlane();
    expect((await call('PATCH', `${CONFIG_MAPS}/a?fieldManager=m`, applied({}), APPLY)).body).toMatchObject({
      code: 400,
      message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
    });
    expect((await call('PATCH', `${CONFIG_MAPS}/a?fieldManager=m`, applied({ name: 'a', uid: 'u' }), APPLY)).body).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    });
  });

  test('takes the permission to create, as a PUT does that creates', async () => {
    const { call } = await aControlPlane();
    const rules = [{ apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'], verbs: ['patch', 'update', 'get'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'changer' };
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'kim' }];
    await call('POST', `${RBAC}/roles`, { metadata: { name: 'changer' }, rules });
    await call('POST', `${RBAC}/rolebindings`, { metadata: { name: 'changers' }, roleRef, subjects });
    const kim = { 'impersonate-user': 'kim' };
    expect((await call('PATCH', `${CONFIG_MAPS}/a?fieldManager=m`, applied({ name: 'a' }), { ...APPLY, ...kim })).body).toMatchObject({
      code: 403,
      details: { name: 'a', kind: 'configmaps' },
    });
    expect((await call('PUT', `${LEASES}/l`, { metadata: { name: 'l' } }, kim)).status).toBe(403);
    await call('POST', CONFIG_MAPS, configMap('a'));
    expect((await call('PATCH', `${CONFIG_MAPS}/a?fieldManager=m`, applied({ name: 'a' }), { ...APPLY, ...kim })).status).toBe(200);
  });
});

describe('metadata alone', () => {
  const accept = (as: string): Record<string, string> => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` });

  test('comes in one kind for an object and another for a list', async () => {
    const { call } = await aControlPlane();
    await call('POST', CONFIG_MAPS, configMap('a'));
    expect((await call('GET', CONFIG_MAPS, undefined, accept('PartialObjectMetadata'))).body).toMatchObject({
      code: 406,
      message: 'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    });
    expect((await call('GET', `${CONFIG_MAPS}/a`, undefined, accept('PartialObjectMetadataList'))).body).toMatchObject({
      code: 406,
      message: 'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    });
  });

  test('is refused after the write', async () => {
    const { call } = await aControlPlane();
    expect((await call('POST', CONFIG_MAPS, configMap('a'), accept('PartialObjectMetadataList'))).status).toBe(406);
    expect((await call('GET', `${CONFIG_MAPS}/a`)).status).toBe(200);
  });
});

test('an empty list of managedFields resets who owns what, as one empty entry does', async () => {
  const { call } = await aControlPlane();
  await call('POST', CONFIG_MAPS, configMap('a', { data: { k: 'v' } }));
  for (const managedFields of [[], [{}]]) {
    expect((await call('PATCH', `${CONFIG_MAPS}/a`, { metadata: { managedFields } }, MERGE)).body.metadata.managedFields).toBeUndefined();
  }
});

test('a list is no object of its kind', async () => {
  const { call } = await aControlPlane();
  expect((await call('POST', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMapList', items: [] })).body).toMatchObject({
    message:
      'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion',
  });
});
