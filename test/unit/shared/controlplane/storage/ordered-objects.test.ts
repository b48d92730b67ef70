import { expect, test } from 'vitest';
import { createOrderedObjects } from '../../../../../shared/controlplane/storage/ordered-objects.ts';
import type { StoredObject } from '../../../../../shared/controlplane/storage/stored-object.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

const stored = (name: string, revision: number): StoredObject => ({
  namespace: 'ns',
  name,
  revision,
  object: { metadata: { name, namespace: 'ns', uid: '', resourceVersion: String(revision), creationTimestamp: '' } },
  text: '{}',
});

test('whatever is written between two lists, the list is what is there, in order', () => {
  const random = seededRandom(1);
  const objects = createOrderedObjects('ns');
  const model = new Map<string, number>();
  for (let step = 1; step < 5000; step++) {
    const name = `n-${Math.floor(random() * 200)}`;
    if (random() < 0.3) {
      objects.delete(name);
      model.delete(name);
    } else {
      objects.set(stored(name, step));
      model.set(name, step);
    }
    if (random() < 0.9) continue;
    const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(objects.list().map((each) => [each.name, each.revision])).toEqual(expected);
    expect(objects.size()).toBe(model.size);
  }
});

test('a list that was handed out stays as it was', () => {
  const objects = createOrderedObjects('ns');
  objects.set(stored('b', 1));
  const before = objects.list();
  objects.set(stored('a', 2));
  objects.delete('b');
  expect(before.map(({ name }) => name)).toEqual(['b']);
  expect(objects.list().map(({ name }) => name)).toEqual(['a']);
  expect(objects.list()).toBe(objects.list());
});

test('objects that come and go without ever being listed are not remembered, and a later list is right', () => {
  const objects = createOrderedObjects('ns');
  objects.set(stored('stays', 1));
  objects.list();
  for (let index = 0; index < 5000; index++) {
    objects.set(stored(`passing-${index}`, index));
    objects.delete(`passing-${index}`);
  }
  expect(objects.list().map(({ name }) => name)).toEqual(['stays']);
});
