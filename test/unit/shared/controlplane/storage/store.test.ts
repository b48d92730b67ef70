import { describe, expect, test } from 'vitest';
import { createStore, type Store } from '../../../../../shared/controlplane/storage/store.ts';
import type { StoreEvent } from '../../../../../shared/controlplane/storage/store-table.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const object = (namespace: string, name: string, labels: Record<string, string> = {}): AnyObject => ({
  metadata: { name, ...(namespace === '' ? {} : { namespace }), uid: name, resourceVersion: '', creationTimestamp: '', labels },
});
const names = (store: Store, namespace = ''): string[] =>
  store
    .table('/things')
    .list(namespace)
    .map((stored) => `${stored.namespace}/${stored.name}`);
const aStore = (options: { eventWindow?: number; eventWindowMs?: number } = {}, clock = new FakeClock()): Store =>
  createStore({ clock, ...options });

describe('the objects of a table', () => {
  test('come in the order of their storage keys, where a dash sorts before a slash', () => {
    const store = aStore();
    for (const [namespace, name] of [
      ['ns', 'b'],
      ['ns-two', 'a'],
      ['ns', 'a'],
    ] as const) {
      store.table('/things').put(object(namespace, name));
    }
    expect(names(store)).toEqual(['ns-two/a', 'ns/a', 'ns/b']);
    expect(names(store, 'ns')).toEqual(['ns/a', 'ns/b']);
    expect(names(store, 'none')).toEqual([]);
  });

  test('share one revision counter over all tables', () => {
    const store = aStore();
    expect(store.table('/things').put(object('ns', 'a')).revision).toBe(1);
    expect(store.table('/others').put(object('ns', 'a')).object.metadata.resourceVersion).toBe('2');
    expect(store.revision()).toBe(2);
  });

  test('are found by label also after the label or the object has changed', () => {
    const store = aStore();
    const table = store.table('/things');
    const found = (value: string): string[] => table.listByLabel('', 'app', [value]).map(({ name }) => name);
    table.put(object('ns', 'a', { app: 'x' }));
    expect(found('x')).toEqual(['a']);
    const second = table.put(object('ns', 'b', { app: 'x' }));
    table.put(object('ns', 'a', { app: 'y' }));
    expect([found('x'), found('y')]).toEqual([['b'], ['a']]);
    table.remove(second);
    expect(found('x')).toEqual([]);
    expect(table.listByLabel('other', 'app', ['y'])).toEqual([]);
  });
});

describe('the past', () => {
  test('is listed as it was at an older revision', () => {
    const store = aStore();
    const table = store.table('/things');
    table.put(object('ns', 'a'));
    const removed = table.put(object('ns', 'b'));
    const then = store.revision();
    table.put(object('ns', 'aa'));
    table.remove(removed);
    table.put(object('ns', 'a', { changed: 'yes' }));
    expect(table.listAt('ns', then).map(({ name, object: { metadata } }) => [name, metadata.labels])).toEqual([
      ['a', {}],
      ['b', {}],
    ]);
    expect(table.listAt('ns', store.revision()).map(({ name }) => name)).toEqual(['a', 'aa']);
  });

  test('is forgotten beyond the window, by number and by age', async () => {
    const clock = new FakeClock();
    const store = aStore({ eventWindow: 2, eventWindowMs: 1000 }, clock);
    const table = store.table('/things');
    for (const name of ['a', 'b', 'c']) table.put(object('ns', name));
    expect(table.compactedRevision()).toBe(1);
    expect(table.eventsSince(1).map(({ revision }) => revision)).toEqual([2, 3]);
    await clock.advance(2000);
    expect(table.compactedRevision()).toBe(3);
  });

  test('is forgotten on demand, also for tables that come later', () => {
    const store = aStore();
    store.table('/things').put(object('ns', 'a'));
    store.compact();
    expect(store.table('/things').compactedRevision()).toBe(1);
    expect(store.table('/new').compactedRevision()).toBe(1);
    store.table('/things').put(object('ns', 'b'));
    expect(store.table('/things').eventsSince(1)).toHaveLength(1);
  });
});

describe('subscribers', () => {
  test('hear of the writes of their namespace and name, in order', () => {
    const store = aStore();
    const table = store.table('/things');
    const heard: Record<string, string[]> = { all: [], one: [], named: [] };
    const listen = (who: string, namespace: string, name: string): (() => void) =>
      table.subscribe({
        namespace,
        name,
        next: ({ current, deleted }: StoreEvent) => heard[who]?.push(`${deleted ? '-' : '+'}${current.name}`),
      });
    listen('all', '', '');
    const stop = listen('one', 'ns', '');
    listen('named', 'ns', 'b');
    table.put(object('other', 'z'));
    const a = table.put(object('ns', 'a'));
    table.remove(a);
    stop();
    table.put(object('ns', 'b'));
    expect(heard).toEqual({ all: ['+z', '+a', '-a', '+b'], one: ['+a', '-a'], named: ['+b'] });
  });

  test('get the deleted object as last stored, with the revision of the deletion', () => {
    const store = aStore();
    const table = store.table('/things');
    const events: StoreEvent[] = [];
    table.subscribe({ namespace: '', name: '', next: (event) => events.push(event) });
    table.remove(table.put(object('ns', 'a', { kept: 'yes' })));
    expect(events[1]).toMatchObject({ deleted: true, revision: 2 });
    expect(events[1]?.current.object.metadata).toMatchObject({ resourceVersion: '2', labels: { kept: 'yes' } });
    expect(JSON.parse(events[1]?.current.text ?? '')).toEqual(events[1]?.current.object);
  });
});
