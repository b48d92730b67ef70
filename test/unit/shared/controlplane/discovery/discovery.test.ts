import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareVersions } from '../../../../../shared/controlplane/discovery/api-groups.ts';
import { aControlPlane, type Bench } from '../a-control-plane.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await aControlPlane();
});
afterEach(() => bench.plane.close());

const get = async (path: string, accept = 'application/json') => (await bench.call('GET', path, undefined, { accept })).body;

describe('discovery', () => {
  test('a group lists its resources by name, with their subresources', async () => {
    const { resources } = await get('/apis/batch/v1');
    expect(resources).toMatchObject([
      { name: 'cronjobs' },
      { name: 'cronjobs/status' },
      { name: 'jobs', kind: 'Job' },
      { name: 'jobs/status' },
    ]);
  });

  test('a subresource of another kind names group and version', async () => {
    const { resources } = await get('/api/v1');
    expect(resources).toContainEqual({
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  test('the aggregated document is for who asks for it, in either version', async () => {
    for (const version of ['v2', 'v2beta1']) {
      const body = await get('/apis', `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`);
      expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}` });
    }
    expect(await get('/apis')).toMatchObject({ kind: 'APIGroupList' });
  });

  test('an unknown version of a group is a 404 Status, an unknown group plain text', async () => {
    expect((await bench.call('GET', '/apis/batch/v9')).body.kind).toBe('Status');
    expect((await bench.call('GET', '/apis/nope.io')).text).toBe('404 page not found\n');
  });
});

test.each(['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'])(
  'a scheduler lists %s, of which there are none at first',
  async (plural) => {
    expect(await get(`/apis/storage.k8s.io/v1/${plural}`)).toMatchObject({ apiVersion: 'storage.k8s.io/v1', items: [] });
  },
);

test.each([
  ['/api/v1', 'persistentvolumes', { shortNames: ['pv'], namespaced: false, kind: 'PersistentVolume' }, ['status']],
  ['/api/v1', 'persistentvolumeclaims', { shortNames: ['pvc'], namespaced: true, kind: 'PersistentVolumeClaim' }, ['status']],
  ['/api/v1', 'replicationcontrollers', { shortNames: ['rc'], categories: ['all'], namespaced: true }, ['scale', 'status']],
  ['/apis/storage.k8s.io/v1', 'volumeattachments', { namespaced: false, kind: 'VolumeAttachment' }, ['status']],
])('%s lists %s as clients look for them', async (path, plural, parts, subresources) => {
  const { resources } = (await get(path)) as unknown as { resources: { name: string }[] };
  expect(resources.find(({ name }) => name === plural)).toMatchObject(parts);
  const below = resources.map(({ name }) => name).filter((name) => name.startsWith(`${plural}/`));
  expect(below).toEqual(subresources.map((each) => `${plural}/${each}`));
});

describe('OpenAPI', () => {
  const JOB = 'io.k8s.api.batch.v1.Job';

  test('every reference of every document has its schema', async () => {
    const { paths } = await get('/openapi/v3');
    for (const name of Object.keys(Object(paths))) {
      const { text } = await bench.call('GET', `/openapi/v3/${name}`);
      const schemas: Record<string, unknown> = JSON.parse(text).components.schemas ?? {};
      const referred = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, to]) => to);
      expect(referred.filter((to) => to === undefined || schemas[to] === undefined)).toEqual([]);
    }
  });

  test('lists carry what kubectl needs to compute a strategic patch', async () => {
    const { text } = await bench.call('GET', '/openapi/v3/apis/batch/v1');
    const schemas = JSON.parse(text).components.schemas;
    expect(schemas[JOB]['x-kubernetes-group-version-kind']).toEqual([{ group: 'batch', kind: 'Job', version: 'v1' }]);
    expect(schemas['io.k8s.api.core.v1.PodSpec'].properties.containers).toMatchObject({
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
  });

  test('version 2 comes as JSON or as protobuf', async () => {
    expect(JSON.parse((await bench.call('GET', '/openapi/v2')).text).definitions).toHaveProperty([JOB]);
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const { text } = await bench.call('GET', '/openapi/v2', undefined, { accept });
    // Field 1 of the document, a string of three bytes.
    expect(text.slice(0, 5)).toBe('\n\x032.0');
    expect(text).toContain(JOB);
  });
});

test('versions are ordered by stability, then by number', () => {
  expect(['v1alpha1', 'foo', 'v2', 'v1beta2', 'v10', 'v1beta10', 'v1', 'bar'].sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v1beta10',
    'v1beta2',
    'v1alpha1',
    'bar',
    'foo',
  ]);
});
