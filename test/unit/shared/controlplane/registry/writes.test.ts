import { describe, expect, test } from 'vitest';
import { aControlPlane, CONFIG_MAPS, configMap, JOBS, MERGE, pod, PODS } from '../a-control-plane.ts';

const job = (metadata: object): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata,
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
});

describe('a create', () => {
  test('gives identity, time and version, and ignores what the client claims of them', async () => {
    const { call } = await aControlPlane();
    const { status, body } = await call(
      'POST',
      CONFIG_MAPS,
      configMap('a', {}, { uid: 'mine', creationTimestamp: '2000-01-01T00:00:00Z', deletionTimestamp: '2000-01-01T00:00:00Z' }),
    );
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' });
    expect(body.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.metadata.deletionTimestamp).toBeUndefined();
  });

  test('tries another name when the generated one is taken, and leaves no trace of the first', async () => {
    // The chance that decides names repeats itself at first.
    const numbers = Array.from({ length: 18 }, () => 0.1);
    let calls = 0;
    const random = (): number => (armed ? (numbers[calls++] ?? 0.1 + calls / 1000) : 0.5);
    let armed = false;
    const { call } = await aControlPlane({ random });
    armed = true;
    const first = await call('POST', JOBS, job({ generateName: 'g-' }));
    calls = 0;
    const second = await call('POST', JOBS, job({ generateName: 'g-' }));
    expect(second.status).toBe(201);
    expect(second.body.metadata.name).not.toBe(first.body.metadata.name);
    const template = second.body['spec'] as { template: { metadata: { labels: Record<string, string> } } };
    expect(template.template.metadata.labels['batch.kubernetes.io/job-name']).toBe(second.body.metadata.name);
  });

  test('as a dry run stores nothing', async () => {
    const { call } = await aControlPlane();
    expect(await call('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('a'))).toMatchObject({ status: 201 });
    expect(await call('GET', `${CONFIG_MAPS}/a`)).toMatchObject({ status: 404 });
  });

  test('waits for no namespace: there is none, so there is no object', async () => {
    const { call } = await aControlPlane();
    const { status, body } = await call('POST', '/api/v1/namespaces/nowhere/configmaps', configMap('a'));
    expect([status, body['message']]).toEqual([404, 'namespaces "nowhere" not found']);
  });
});

describe('an update', () => {
  test('with a version of the past is a conflict, without one it wins', async () => {
    const { call } = await aControlPlane();
    const { body } = await call('POST', CONFIG_MAPS, configMap('a'));
    await call('PATCH', `${CONFIG_MAPS}/a`, { data: { k: '1' } }, MERGE);
    expect(await call('PUT', `${CONFIG_MAPS}/a`, { ...body, data: { k: '2' } })).toMatchObject({
      status: 409,
      body: { reason: 'Conflict' },
    });
    const { resourceVersion: _old, ...metadata } = body.metadata;
    expect(await call('PUT', `${CONFIG_MAPS}/a`, { ...body, metadata, data: { k: '2' } })).toMatchObject({ status: 200 });
  });

  test('that changes nothing keeps the version, whatever the order of its fields', async () => {
    const { call } = await aControlPlane();
    const { body } = await call('POST', CONFIG_MAPS, configMap('a', { data: { x: '1', y: '2' } }));
    const { managedFields: _fields, ...metadata } = body.metadata;
    const again = { data: { y: '2', x: '1' }, metadata, kind: 'ConfigMap', apiVersion: 'v1' };
    const { body: after } = await call('PUT', `${CONFIG_MAPS}/a`, again);
    expect(after.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  test('by several writers at once loses none of their changes', async () => {
    const { call } = await aControlPlane();
    await call('POST', CONFIG_MAPS, configMap('a'));
    const writers = Array.from({ length: 30 }, (_, index) => call('PATCH', `${CONFIG_MAPS}/a`, { data: { [`k${index}`]: 'v' } }, MERGE));
    await Promise.all(writers);
    const { body } = await call('GET', `${CONFIG_MAPS}/a`);
    expect(Object.keys(body['data'] ?? {})).toHaveLength(30);
  });

  test('that takes the last finalizer of a marked object ends it, and answers with the old version', async () => {
    const { call } = await aControlPlane();
    await call('POST', CONFIG_MAPS, configMap('a', {}, { finalizers: ['e.com/a'] }));
    const marked = await call('DELETE', `${CONFIG_MAPS}/a`);
    expect(marked.body.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
    const released = await call('PATCH', `${CONFIG_MAPS}/a`, { metadata: { finalizers: null }, data: { k: 'v' } }, MERGE);
    expect(released).toMatchObject({ status: 200, body: { data: { k: 'v' } } });
    expect(released.body.metadata.resourceVersion).toBe(marked.body.metadata.resourceVersion);
    expect(await call('GET', `${CONFIG_MAPS}/a`)).toMatchObject({ status: 404 });
  });

  test('of a Lease that is not there creates it; one that is there wants its version', async () => {
    const { call } = await aControlPlane();
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    const created = await call('PUT', `${leases}/l`, lease);
    expect(created.status).toBe(201);
    expect(await call('PUT', `${leases}/l`, lease)).toMatchObject({ status: 422 });
    expect(await call('PUT', `${leases}/l`, created.body)).toMatchObject({ status: 200 });
  });

  test('of something that is not there is 404, before anything is said about the patch', async () => {
    const { call } = await aControlPlane();
    expect(await call('PATCH', `${CONFIG_MAPS}/none`, 'no JSON', MERGE)).toMatchObject({ status: 404 });
  });
});

describe('the time of a pod', () => {
  test('runs from its deletion to the end of its grace period, and a deletion without grace ends it', async () => {
    const { call, clock } = await aControlPlane();
    await call('POST', PODS, pod('p'));
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    await call('POST', `${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target });
    const marked = await call('DELETE', `${PODS}/p`);
    expect(marked.body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    await clock.advance(60_000);
    expect(await call('GET', `${PODS}/p`)).toMatchObject({ status: 200 });
    await call('DELETE', `${PODS}/p`, { gracePeriodSeconds: 0 });
    expect(await call('GET', `${PODS}/p`)).toMatchObject({ status: 404 });
  });
});

describe('deletecollection', () => {
  test('deletes what the selector selects and answers with it', async () => {
    const { call } = await aControlPlane();
    for (const [name, odd] of [
      ['a', 'true'],
      ['b', 'false'],
      ['c', 'true'],
    ] as const) {
      await call('POST', CONFIG_MAPS, configMap(name, {}, { labels: { odd } }));
    }
    const deleted = await call('DELETE', `${CONFIG_MAPS}?labelSelector=odd%3Dtrue`);
    const namesOf = (body: unknown): string[] =>
      (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
    expect(namesOf(deleted.body)).toEqual(['a', 'c']);
    expect(namesOf((await call('GET', CONFIG_MAPS)).body)).toEqual(['b']);
  });
});
