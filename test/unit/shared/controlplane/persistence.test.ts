import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlitePersistence } from '../../../../shared/controlplane/persistence.ts';
import { aControlPlane, CONFIG_MAPS, configMap, MERGE } from './a-control-plane.ts';

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

describe('a process that is killed', () => {
  const MAIN = path.resolve(import.meta.dirname, '../../../../shared/controlplane/main.ts');

  const start = async (): Promise<{ child: ChildProcess; url: string; token: string }> => {
    const kubeconfig = path.join(directory, 'kubeconfig');
    rmSync(kubeconfig, { force: true });
    const flags = ['--kubeconfig-out', kubeconfig, '--data-dir', path.join(directory, 'data'), '--plain', '--log-level', 'error'];
    const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
    for (let wait = 0; wait < 200 && !existsSync(kubeconfig); wait++) await new Promise((resolve) => setTimeout(resolve, 50));
    const text = readFileSync(kubeconfig, 'utf8');
    return { child, url: /server: (\S+)/.exec(text)?.[1] ?? '', token: /token: (\S+)/.exec(text)?.[1] ?? '' };
  };

  test('has lost no write that it acknowledged', { timeout: 60_000 }, async () => {
    const acknowledged: string[] = [];
    const server = await start();
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const write = async (writer: number): Promise<void> => {
      for (let index = 0; ; index++) {
        const name = `c-${writer}-${index}`;
        const answer = await fetch(server.url + CONFIG_MAPS, { method: 'POST', headers, body: JSON.stringify(configMap(name)) });
        await answer.text();
        if (answer.status === 201) acknowledged.push(name);
      }
    };
    // The writers end when their server does.
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer).catch((error: unknown) => error));
    while (acknowledged.length < 500) await new Promise((resolve) => setTimeout(resolve, 5));
    const killed = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await killed;
    await Promise.all(writers);

    const again = await start();
    const answer = await fetch(again.url + CONFIG_MAPS, { headers: { authorization: `Bearer ${again.token}` } });
    const list = (await answer.json()) as { items: { metadata: { name: string } }[] };
    const found = new Set(list.items.map(({ metadata }) => metadata.name));
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    const ended = once(again.child, 'exit');
    again.child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
