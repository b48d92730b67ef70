import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlitePersistence } from '../../../../../shared/controlplane/storage/persistence.ts';
import { aControlPlane, CONFIG_MAPS, configMap, MERGE } from '../a-control-plane.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'persistence-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a data directory', () => {
  test('gives back what was written, changed and deleted, and goes on counting revisions', async () => {
    const first = await aControlPlane({ dataDir: directory });
    await first.call('POST', CONFIG_MAPS, configMap('kept'));
    await first.call('POST', CONFIG_MAPS, configMap('gone'));
    await first.call('PATCH', `${CONFIG_MAPS}/kept`, { data: { a: 'b' } }, MERGE);
    await first.call('DELETE', `${CONFIG_MAPS}/gone`);
    const before = (await first.call('GET', CONFIG_MAPS)).body;
    await first.plane.close();

    const second = await aControlPlane({ dataDir: directory });
    const after = (await second.call('GET', CONFIG_MAPS)).body;
    expect(after).toEqual(before);
    const created = await second.call('POST', CONFIG_MAPS, configMap('new'));
    expect(Number(created.body.metadata.resourceVersion)).toBe(Number(before.metadata.resourceVersion) + 1);
    await second.plane.close();
  });

  test('serves custom resources again after a restart', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const first = await aControlPlane({ dataDir: directory });
    await first.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await first.clock.settle();
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
    expect((await first.call('POST', '/apis/example.com/v1/widgets', widget)).status).toBe(201);
    await first.plane.close();

    const second = await aControlPlane({ dataDir: directory });
    expect((await second.call('GET', '/apis/example.com/v1/widgets/w')).status).toBe(200);
    await second.plane.close();
  });

  test('refuses a watch from before the restart, which it cannot remember', async () => {
    const first = await aControlPlane({ dataDir: directory });
    const { body } = await first.call('POST', CONFIG_MAPS, configMap('a'));
    await first.call('POST', CONFIG_MAPS, configMap('b'));
    await first.plane.close();
    const second = await aControlPlane({ dataDir: directory });
    const watch = await second.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    await second.plane.close();
  });

  test('lets watchers see a write only once it is on disk', async () => {
    const persistence = openSqlitePersistence(directory);
    const told: number[] = [];
    const record = { table: '/things', namespace: 'ns', name: 'a', text: '{}' };
    persistence.append({ ...record, revision: 1 }, () => told.push(1));
    persistence.append({ ...record, revision: 2 }, () => told.push(2));
    expect(told).toEqual([]);
    await persistence.settled();
    expect(told).toEqual([1, 2]);
    expect(persistence.settled()).toBeUndefined();
    persistence.close();
    const reopened = openSqlitePersistence(directory);
    expect(reopened.load()).toEqual({ revision: 2, objects: [{ ...record, revision: 2 }] });
    reopened.close();
  });
});
