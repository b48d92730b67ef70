import { describe, expect, test } from 'vitest';
import { aControlPlane, type Bench, MERGE } from '../a-control-plane.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const gears = (version: string): string => `/apis/e.com/${version}/namespaces/default/gears`;
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

const version = (name: string, spec: object, more: object = {}): object => ({
  name,
  served: true,
  storage: false,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: spec }, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  },
  ...more,
});

async function aPlaneWithGears(...versions: object[]): Promise<Bench> {
  const bench = await aControlPlane();
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.e.com' },
    spec: { group: 'e.com', scope: 'Namespaced', names: { plural: 'gears', singular: 'gear', kind: 'Gear' }, versions },
  };
  const { status, text } = await bench.call('POST', CRDS, crd);
  expect([status, text]).toEqual([201, expect.anything()]);
  await bench.clock.settle();
  return bench;
}
const gear = (apiVersion: string, name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: `e.com/${apiVersion}`,
  kind: 'Gear',
  metadata: { name, ...metadata },
  spec,
});

describe('a custom resource with two versions', () => {
  const twoVersions = (): Promise<Bench> =>
    aPlaneWithGears(
      version('v1', { a: { type: 'string', default: 'one' }, only1: { type: 'string' } }, { storage: true }),
      version('v2', { a: { type: 'string', default: 'two' }, only2: { type: 'integer', default: 2 } }),
    );

  test('is stored in one, and loses in the other what that does not know', async () => {
    const bench = await twoVersions();
    await bench.call('POST', gears('v1'), gear('v1', 'a', { only1: 'x' }));
    expect((await bench.call('GET', `${gears('v2')}/a`)).body).toMatchObject({ apiVersion: 'e.com/v2', spec: { a: 'one' } });
    expect((await bench.call('GET', `${gears('v2')}/a`)).body['spec']).toEqual({ a: 'one' });
    const created = await bench.call('POST', gears('v2'), gear('v2', 'b', { only2: 5 }));
    expect(created.body['spec']).toEqual({ a: 'two' });
  });
  test('gets the defaults of the version it is stored in', async () => {
    const bench = await twoVersions();
    await bench.call('POST', gears('v1'), gear('v1', 'a', {}));
    await bench.call('PATCH', `${gears('v2')}/a`, { spec: { only2: 9 } }, MERGE);
    const { body } = await bench.call('GET', `${gears('v1')}/a`);
    expect([body['spec'], body.metadata.generation]).toEqual([{ a: 'one' }, 2]);
  });
  test('stays as it was stored when the storage moves, until it is written again', async () => {
    const bench = await twoVersions();
    await bench.call('POST', gears('v1'), gear('v1', 'a', { only1: 'x' }));
    const moved = [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ];
    await bench.call('PATCH', `${CRDS}/gears.e.com`, moved, { 'content-type': 'application/json-patch+json' });
    await bench.clock.settle();
    expect((await bench.call('GET', `${gears('v1')}/a`)).body['spec']).toEqual({ a: 'one', only1: 'x' });
    await bench.call('PATCH', `${gears('v1')}/a`, { metadata: { labels: { x: 'y' } } }, MERGE);
    expect((await bench.call('GET', `${gears('v1')}/a`)).body['spec']).toEqual({ a: 'one' });
  });
  test('shows watchers of each version that version', async () => {
    const bench = await twoVersions();
    const watched = await bench.watch(`${gears('v2')}?watch=1`);
    await bench.call('POST', gears('v1'), gear('v1', 'a', { only1: 'x' }));
    await bench.clock.settle();
    expect(watched.events.map(({ object }) => [object.apiVersion, object['spec']])).toEqual([['e.com/v2', { a: 'one' }]]);
    watched.stop();
  });
  test('cannot be applied in one by somebody who applied it in the other, if it does not fit there', async () => {
    const bench = await twoVersions();
    await bench.call('PATCH', `${gears('v2')}/d?fieldManager=k`, gear('v2', 'd', { a: 'mine' }), APPLY);
    const { status, body } = await bench.call('PATCH', `${gears('v1')}/d?fieldManager=k`, gear('v1', 'd', { only1: 'y' }), APPLY);
    expect([status, body['message']]).toEqual([
      500,
      'failed to prune fields: failed to convert merged object to last applied version: .spec.only1: field not declared in schema',
    ]);
  });
  test('loses its managedFields when an update does not fit into the version of another manager', async () => {
    const bench = await twoVersions();
    await bench.call('POST', gears('v1'), gear('v1', 'a', {}));
    const { body } = await bench.call('PATCH', `${gears('v2')}/a`, { spec: { only2: 9 } }, MERGE);
    expect(body.metadata.managedFields).toBeUndefined();
  });
});

describe('a scale of a custom resource', () => {
  const scaled = (): Promise<Bench> =>
    aPlaneWithGears(
      version(
        'v1',
        { size: { type: 'integer' }, other: { type: 'string' } },
        {
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.count', labelSelectorPath: '.status.s' },
          },
        },
      ),
    );
  test('needs a count to be shown, but none to be set', async () => {
    const bench = await scaled();
    await bench.call('POST', gears('v1'), gear('v1', 'a', {}));
    expect((await bench.call('GET', `${gears('v1')}/a/scale`)).body).toMatchObject({
      code: 500,
      message: 'Internal error occurred: the spec replicas field ".spec.size" does not exist',
    });
    const untouched = await bench.call('PATCH', `${gears('v1')}/a/scale`, { status: { replicas: 1 } }, MERGE);
    expect([untouched.status, untouched.body['message']]).toEqual([400, 'the spec replicas field ".spec.size" cannot be empty']);
    expect((await bench.call('PATCH', `${gears('v1')}/a/scale`, { spec: { replicas: 2 } }, MERGE)).body['spec']).toEqual({ replicas: 2 });
  });
  test('is refused by the name of another object, and by other methods', async () => {
    const bench = await scaled();
    await bench.call('POST', gears('v1'), gear('v1', 'a', { size: 1 }));
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'z' }, spec: { replicas: 1 } };
    expect((await bench.call('PUT', `${gears('v1')}/a/scale`, scale)).body['message']).toBe(
      'the name of the object (z) does not match the name on the URL (a)',
    );
    expect((await bench.call('DELETE', `${gears('v1')}/a/scale`)).body).toMatchObject({
      code: 405,
      message: 'delete is not supported on resources of kind "gears.e.com"',
    });
  });
  test('holds the status to what it shows', async () => {
    const bench = await scaled();
    await bench.call('POST', gears('v1'), gear('v1', 'a', { size: 1 }));
    const { body } = await bench.call('PATCH', `${gears('v1')}/a/status`, { status: { count: 'x', s: 1 } }, MERGE);
    expect(body['message']).toBe(
      'Gear.e.com "a" is invalid: [.status.count: Invalid value: 0: .status.count accessor error: x is of the type string, expected int64, ' +
        '.status.s: Invalid value: "": .status.s accessor error: 1 is of the type int64, expected string]',
    );
  });
});

describe('a custom resource', () => {
  test('is warned of finalizers that say not whose they are', async () => {
    const bench = await aPlaneWithGears(version('v1', {}, { storage: true }));
    const created = await bench.call('POST', gears('v1'), gear('v1', 'a', {}, { finalizers: ['mine', 'e.com', 'e.com/x'] }));
    expect([created.warning].flat().join('\n')).toBe(
      [
        '299 - "metadata.finalizers: \\"e.com\\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"',
        '299 - "metadata.finalizers: \\"mine\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"',
      ].join('\n'),
    );
  });
  test('is created no more once its definition is being deleted', async () => {
    const bench = await aPlaneWithGears(version('v1', {}, { storage: true }));
    await bench.call('POST', gears('v1'), gear('v1', 'held', {}, { finalizers: ['e.com/x'] }));
    await bench.call('DELETE', `${CRDS}/gears.e.com`);
    await bench.clock.settle();
    const refusal = {
      code: 403,
      message: 'gears.e.com "b" is forbidden: create not allowed while custom resource definition is terminating',
    };
    expect((await bench.call('POST', gears('v1'), gear('v1', 'b', {}))).body).toMatchObject(refusal);
    expect((await bench.call('PATCH', `${gears('v1')}/b?fieldManager=k`, gear('v1', 'b', {}), APPLY)).body).toMatchObject(refusal);
    expect((await bench.call('PATCH', `${gears('v1')}/held`, { metadata: { labels: { a: 'b' } } }, MERGE)).status).toBe(200);
  });
  test('cannot be given other finalizers while it is being deleted', async () => {
    const bench = await aPlaneWithGears(version('v1', {}, { storage: true }));
    await bench.call('POST', gears('v1'), gear('v1', 'a', {}, { finalizers: ['e.com/x'] }));
    await bench.call('DELETE', `${gears('v1')}/a`);
    const { body } = await bench.call('PATCH', `${gears('v1')}/a`, { metadata: { finalizers: ['e.com/x', 'e.com/y'] } }, MERGE);
    expect(body).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.finalizers' }, { field: 'metadata.finalizers' }] } });
  });
  test('has metadata of a proper shape in what is embedded', async () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
    const bench = await aPlaneWithGears(version('v1', { e: embedded }, { storage: true }));
    const bad = await bench.call(
      'POST',
      gears('v1'),
      gear('v1', 'a', { e: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: 5, a: 1 } } }),
    );
    expect(bad.body['message']).toMatch(
      /^Gear in version "v1" cannot be handled as a Gear: spec\.e\.metadata: Invalid value: \{"a":1,"labels":5\}: /,
    );
    const junk = await bench.call(
      'POST',
      gears('v1'),
      gear('v1', 'b', { e: { apiVersion: 'v1', kind: 'Pod', metadata: { junk: 1 }, x: 1 } }),
    );
    expect([junk.warning].flat()).toEqual(['299 - "unknown field \\"spec.e.metadata.junk\\""']);
    expect(junk.body['spec']).toEqual({ e: { apiVersion: 'v1', kind: 'Pod', metadata: {}, x: 1 } });
    const untyped = await bench.call('POST', gears('v1'), gear('v1', 'c', { e: {} }));
    expect(untyped.body['message']).toBe('Gear.e.com "c" is invalid: [spec.e.apiVersion: Required value, spec.e.kind: Required value]');
  });
});

describe('a definition', () => {
  const crdNamed = (name: string): string => `${CRDS}/${name}`;

  test('is only replaced by who says which version, and goes on its own terms', async () => {
    const bench = await aPlaneWithGears(version('v1', {}, { storage: true }));
    const { body } = await bench.call('GET', crdNamed('gears.e.com'));
    const { resourceVersion, uid } = body.metadata;
    const unconditional = { ...body, metadata: { ...body.metadata, resourceVersion: undefined } };
    const refused = await bench.call('PUT', crdNamed('gears.e.com'), unconditional);
    expect([refused.status, refused.body['message']]).toEqual([
      422,
      'customresourcedefinitions.apiextensions.k8s.io "gears.e.com" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    const deletions = [
      { uid: 'other', resourceVersion },
      { uid, resourceVersion: '1' },
    ].map((preconditions) => bench.call('DELETE', crdNamed('gears.e.com'), { kind: 'DeleteOptions', apiVersion: 'v1', preconditions }));
    const words = 'Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "gears.e.com": Precondition failed';
    expect((await Promise.all(deletions)).map((answer) => [answer.status, answer.body['message']])).toEqual([
      [409, `${words}: UID in precondition: other, UID in object meta: ${uid}`],
      [409, `${words}: ResourceVersion in precondition: 1, ResourceVersion in object meta: ${resourceVersion}`],
    ]);
  });
  test('has its columns printed as Go prints values', async () => {
    const columns = ['spec.size', 'spec.share', 'spec.tree', 'spec.since', 'spec.until'].map((path, i) => ({
      name: path,
      type: i < 3 ? 'string' : 'date',
      jsonPath: `.${path}`,
    }));
    const any = { 'x-kubernetes-preserve-unknown-fields': true };
    const bench = await aPlaneWithGears(
      version('v1', { size: any, share: any, tree: any, since: any, until: any }, { storage: true, additionalPrinterColumns: columns }),
    );
    const spec = { size: 3, share: 0.000001, tree: { b: 1, a: [true] }, since: '2026-01-01', until: '' };
    await bench.call('POST', gears('v1'), gear('v1', 'a', spec));
    const { body } = await bench.call('GET', gears('v1'), undefined, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' });
    expect(body['rows']).toMatchObject([{ cells: ['a', '3', '1e-06', '{"a":[true],"b":1}', '<invalid>', '<unknown>'] }]);
  });
});
