import { describe, expect, test } from 'vitest';
import { type Bench, aControlPlane, CONFIG_MAPS, configMap, MERGE, pod, PODS, type Watched } from '../a-control-plane.ts';

const seen = ({ events }: Watched): string[] => events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());
const versionOf = async (bench: Bench, path: string): Promise<string> => (await bench.call('GET', path)).body.metadata.resourceVersion;

describe('a watch', () => {
  test('tells what exists first, then what happens, each once', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1`);
    await bench.call('POST', CONFIG_MAPS, configMap('b'));
    await bench.call('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } }, MERGE);
    await bench.call('DELETE', `${CONFIG_MAPS}/b`);
    await bench.clock.settle();
    expect(seen(watch)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  test('resumes after a version and repeats nothing', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    const version = await versionOf(bench, CONFIG_MAPS);
    await bench.call('POST', CONFIG_MAPS, configMap('b'));
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}`);
    expect(seen(watch)).toEqual(['ADDED b']);
  });

  test('sees nothing of a write that changes nothing', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', CONFIG_MAPS, configMap('a', { data: { k: 'v' } }));
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${await versionOf(bench, CONFIG_MAPS)}`);
    await bench.call('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } }, MERGE);
    await bench.clock.settle();
    expect(watch.events).toEqual([]);
  });

  test('with a selector sees objects enter as added and leave as deleted, as they were, with the version of the write', async () => {
    const bench = await aControlPlane();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&labelSelector=in%3Dyes`);
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    await bench.call('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { in: 'yes' } } }, MERGE);
    const left = await bench.call('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { in: 'no' } } }, MERGE);
    await bench.clock.settle();
    expect(seen(watch)).toEqual(['ADDED a', 'DELETED a']);
    expect(watch.events[1]?.object.metadata).toMatchObject({ labels: { in: 'yes' }, resourceVersion: left.body.metadata.resourceVersion });
  });

  test('of pods follows spec.nodeName', async () => {
    const bench = await aControlPlane();
    const [unbound, bound] = [
      await bench.watch(`${PODS}?watch=1&fieldSelector=spec.nodeName%3D`),
      await bench.watch(`${PODS}?watch=1&fieldSelector=spec.nodeName%3Dnode-1`),
    ];
    await bench.call('POST', PODS, pod('p'));
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    await bench.call('POST', `${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target });
    await bench.clock.settle();
    expect([seen(unbound), seen(bound)]).toEqual([['ADDED p', 'DELETED p'], ['ADDED p']]);
  });

  test('of one object ignores its neighbours', async () => {
    const bench = await aControlPlane();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Db`);
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    await bench.call('POST', CONFIG_MAPS, configMap('b'));
    await bench.clock.settle();
    expect(seen(watch)).toEqual(['ADDED b']);
  });

  test('that resumes has a bookmark two seconds before it ends, in the form that was asked for', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    const version = await versionOf(bench, CONFIG_MAPS);
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}&allowWatchBookmarks=true&timeoutSeconds=4`);
    await bench.clock.advance(1999);
    expect(watch.events).toEqual([]);
    await bench.clock.advance(2);
    expect(watch.events).toEqual([
      { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: version } } },
    ]);
    await bench.clock.advance(2000);
    expect(watch.ended).toBe(true);
  });

  test('that streams a list ends it with a bookmark', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await bench.watch(`${CONFIG_MAPS}?${query}`);
    expect(seen(watch)).toEqual(['ADDED a', 'BOOKMARK']);
    expect(watch.events[1]?.object.metadata).toEqual({
      resourceVersion: await versionOf(bench, CONFIG_MAPS),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
  });

  test('sends bookmarks every minute while it is quiet', async () => {
    const bench = await aControlPlane();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true`);
    await bench.call('POST', PODS, pod('elsewhere'));
    await bench.clock.advance(60_000);
    expect(watch.events.at(-1)).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: await versionOf(bench, PODS) } },
    });
  });

  test('from a version of the future says nothing, not even in a bookmark, until the server has come there', async () => {
    const bench = await aControlPlane();
    const version = Number(await versionOf(bench, CONFIG_MAPS)) + 2;
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`);
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    await bench.clock.advance(60_000);
    expect(watch.events).toEqual([]);
    await bench.call('POST', CONFIG_MAPS, configMap('b'));
    await bench.call('POST', CONFIG_MAPS, configMap('c'));
    await bench.clock.advance(60_000);
    expect(seen(watch)).toEqual(['ADDED c', 'BOOKMARK']);
  });

  test('ends after timeoutSeconds and leaves no timer behind', async () => {
    const bench = await aControlPlane();
    const timers = bench.clock.pendingTimers();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=5`);
    await bench.clock.advance(4999);
    expect(watch.ended).toBe(false);
    await bench.clock.advance(1);
    expect(watch.ended).toBe(true);
    expect(bench.clock.pendingTimers()).toBe(timers);
  });

  test('from a version that is forgotten gets 410 as an event', async () => {
    const bench = await aControlPlane();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=1`);
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { reason: 'Expired', code: 410 } }]);
    expect(watch.ended).toBe(true);
  });

  test('that is stopped by its client hears nothing more', async () => {
    const bench = await aControlPlane();
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1`);
    watch.stop();
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    await bench.clock.settle();
    expect([watch.events, watch.ended]).toEqual([[], true]);
  });
});

describe('a pod without a node', () => {
  test('is deleted in two events: marked, then gone', async () => {
    const bench = await aControlPlane();
    await bench.call('POST', PODS, pod('p'));
    const watch = await bench.watch(`${PODS}?watch=1&resourceVersion=${await versionOf(bench, PODS)}`);
    await bench.call('DELETE', `${PODS}/p`);
    await bench.clock.settle();
    expect(watch.events.map(({ type, object }) => [type, object.metadata.deletionGracePeriodSeconds])).toEqual([
      ['MODIFIED', 0],
      ['DELETED', 0],
    ]);
  });
});

describe('two runs with the same seed', () => {
  const run = async (): Promise<unknown> => {
    const bench = await aControlPlane({}, 42);
    const watch = await bench.watch('/api/v1/configmaps?watch=1');
    const writes = Array.from({ length: 20 }, () => bench.call('POST', CONFIG_MAPS, configMap('', {}, { generateName: 'g-' })));
    await Promise.all(writes);
    await bench.clock.advance(1000);
    return watch.events;
  };

  test('give the same objects the same names, identities and versions, in the same order', async () => {
    expect(await run()).toEqual(await run());
  });
});
