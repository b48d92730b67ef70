import { expect, test } from 'vitest';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../../shared/api/resources.ts';
import { canDo, discover } from '../../../../../shared/controlplane/controllers/discovery.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: ['v1', 'v1alpha1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
};

test('what is served is told by two calls, and told anew only when it has changed', async () => {
  const clock = new FakeClock();
  const { client, plane } = await startCluster(clock, []);
  const asked: string[] = [];
  const raw: typeof client.raw = (request) => {
    asked.push(request.path);
    return client.raw(request);
  };

  const first = await discover({ raw });
  const jobs = first.resources.find(({ plural }) => plural === 'jobs');
  expect(jobs).toMatchObject({ group: 'batch', version: 'v1', kind: 'Job', namespaced: true });
  expect(jobs && canDo(jobs, 'list', 'watch', 'delete')).toBe(true);
  expect(first.resources.find(({ plural }) => plural === 'nodes')).toMatchObject({ group: '', version: 'v1', namespaced: false });
  expect(first.resources.filter(({ plural }) => plural.includes('/'))).toEqual([]);
  expect(await discover({ raw }, first)).toBe(first);
  expect(asked).toEqual(['/api', '/apis', '/api', '/apis']);

  await client.create(CUSTOM_RESOURCE_DEFINITIONS, widgets as never);
  await clock.advance(100);
  const found = (await discover({ raw }, first)).resources.filter(({ kind }) => kind === 'Widget');
  expect(found).toMatchObject([{ group: 'example.com', version: 'v1', plural: 'widgets' }]);
  await plane.close();
});
