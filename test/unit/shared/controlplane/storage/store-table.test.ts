import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { createTable, type StoreEvent, type Table } from '../../../../../shared/controlplane/storage/store-table.ts';

const object = (name: string, namespace = 'default', labels?: Record<string, string>): AnyObject => ({
  metadata: { name, namespace, uid: name, resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z', ...(labels && { labels }) },
});

/** A table that publishes at once, and its clock. */
function aTable(window = { events: 100, ageMs: 60_000 }): { readonly table: Table; readonly clock: { nowMs: number } } {
  let revision = 10;
  const clock = { nowMs: 0 };
  const table: Table = createTable({
    name: '/things',
    compactedRevision: 10,
    window,
    now: () => clock.nowMs,
    nextRevision: () => ++revision,
    written: (event) => table.publish(event),
  });
  return { table, clock };
}
const keys = (list: readonly { namespace: string; name: string }[]): string[] => list.map(({ namespace, name }) => `${namespace}/${name}`);

describe('objects', () => {
  test('are listed in the order of their storage keys', () => {
    const { table } = aTable();
    for (const [name, namespace] of [
      ['b', 'ns'],
      ['a', 'ns'],
      ['x', 'ns-two'],
    ] as const)
      table.put(object(name, namespace));
    // `ns-two/` sorts before `ns/`, as in etcd.
    expect(keys(table.list(''))).toEqual(['ns-two/x', 'ns/a', 'ns/b']);
    expect(keys(table.list('ns'))).toEqual(['ns/a', 'ns/b']);
    expect(table.size()).toBe(3);
  });

  test('carry the revision of their last write as their resourceVersion', () => {
    const { table } = aTable();
    expect(table.put(object('a')).object.metadata.resourceVersion).toBe('11');
    expect(table.put(object('a')).object.metadata.resourceVersion).toBe('12');
    expect(table.get('default', 'a')?.revision).toBe(12);
  });

  test('that are removed come back once more with the revision of the deletion, and are gone', () => {
    const { table } = aTable();
    const stored = table.put(object('a'));
    expect(table.remove(stored).object.metadata.resourceVersion).toBe('12');
    expect(table.get('default', 'a')).toBeUndefined();
    expect(table.list('')).toEqual([]);
  });

  test('are found by a label, in one namespace or in all', () => {
    const { table } = aTable();
    table.put(object('b', 'one', { app: 'web' }));
    table.put(object('a', 'two', { app: 'web' }));
    table.put(object('c', 'one', { app: 'api' }));
    expect(keys(table.listByLabel('', 'app', ['web']))).toEqual(['one/b', 'two/a']);
    expect(keys(table.listByLabel('one', 'app', ['web', 'api']))).toEqual(['one/b', 'one/c']);
  });
});

describe('the past', () => {
  test('is listed as it was at a revision that is still remembered', () => {
    const { table } = aTable();
    const a = table.put(object('a')); // 11
    table.put(object('b')); // 12
    table.remove(a); // 13
    expect(keys(table.listAt('', 12))).toEqual(['default/a', 'default/b']);
    expect(keys(table.listAt('', 11))).toEqual(['default/a']);
    expect(keys(table.listAt('', 13))).toEqual(['default/b']);
    expect(keys(table.listAt('other', 12))).toEqual([]);
  });

  test('is forgotten after the age of the window', () => {
    const { table, clock } = aTable({ events: 100, ageMs: 1_000 });
    table.put(object('a')); // 11
    clock.nowMs = 2_000;
    table.put(object('b')); // 12
    expect(table.compactedRevision()).toBe(11);
    expect(table.eventsSince(11).map(({ revision }) => revision)).toEqual([12]);
  });

  test('is forgotten beyond the number of events of the window, however many there were', () => {
    const { table } = aTable({ events: 2, ageMs: 60_000 });
    for (let i = 0; i < 3_000; i++) table.put(object('a'));
    expect(table.compactedRevision()).toBe(3_008);
    expect(table.eventsSince(3_008).map(({ revision }) => revision)).toEqual([3_009, 3_010]);
  });

  test('is forgotten on request, and never comes back', () => {
    const { table } = aTable();
    for (let i = 0; i < 5; i++) table.put(object('a'));
    table.compact(13);
    table.compact(11);
    expect(table.compactedRevision()).toBe(13);
    expect(table.eventsSince(0).map(({ revision }) => revision)).toEqual([14, 15]);
  });
});

describe('subscribers', () => {
  test('hear of their namespace or of all, and of one name if they asked for it, until they leave', () => {
    const { table } = aTable();
    const heard: string[] = [];
    const note =
      (who: string) =>
      ({ deleted, current }: StoreEvent): void => {
        heard.push(`${who} ${deleted ? 'lost' : 'saw'} ${current.namespace}/${current.name}`);
      };
    table.subscribe({ namespace: '', name: '', next: note('all') });
    const leave = table.subscribe({ namespace: 'one', name: '', next: note('one') });
    table.subscribe({ namespace: 'one', name: 'b', next: note('b') });
    const a = table.put(object('a', 'one'));
    table.put(object('b', 'two'));
    leave();
    table.remove(a);
    expect(heard).toEqual(['all saw one/a', 'one saw one/a', 'all saw two/b', 'all lost one/a']);
  });

  test('whose selector an update leaves behind get the old object with the new version, made once', () => {
    const { table } = aTable();
    const events: StoreEvent[] = [];
    table.subscribe({ namespace: '', name: '', next: (event) => events.push(event) });
    table.put(object('a', 'default', { app: 'web' }));
    table.put(object('a', 'default', { app: 'api' }));
    const [created, updated] = events;
    if (created === undefined || updated === undefined) throw new Error('two writes, two events');
    expect(table.departed(created)).toBeUndefined();
    expect(table.departed(updated)?.object.metadata).toMatchObject({ labels: { app: 'web' }, resourceVersion: '12' });
    expect(table.departed(updated)).toBe(table.departed(updated));
  });
});

test('what is read from disk is there without an event', () => {
  const { table } = aTable();
  const heard: StoreEvent[] = [];
  table.subscribe({ namespace: '', name: '', next: (event) => heard.push(event) });
  table.restore(object('a'), '{}', 5);
  expect(table.get('default', 'a')).toMatchObject({ revision: 5, text: '{}' });
  expect(heard).toEqual([]);
});
