import { expect, test } from 'vitest';
import { createLabelIndex } from '../../../../../shared/controlplane/storage/label-index.ts';
import type { StoredObject } from '../../../../../shared/controlplane/storage/stored-object.ts';

const stored = (name: string, labels: Record<string, string>, namespace = 'default'): StoredObject => ({
  namespace,
  name,
  revision: 1,
  object: { metadata: { name, namespace, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels } },
  text: '',
});
const names = (found: readonly StoredObject[]): string[] => found.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();

test('a key is indexed the first time that somebody asks for it, and followed from then on', () => {
  const index = createLabelIndex();
  const a = stored('a', { app: 'web' });
  let reads = 0;
  const all = (): StoredObject[] => {
    reads++;
    return [a];
  };
  expect(names(index.find('app', ['web'], all))).toEqual(['default/a']);
  index.replace(undefined, stored('b', { app: 'web' }));
  expect(names(index.find('app', ['web'], all))).toEqual(['default/a', 'default/b']);
  expect(reads).toBe(1);
});

test('an object whose label changes is found under the new value only', () => {
  const index = createLabelIndex();
  const before = stored('a', { app: 'web' });
  index.find('app', ['web'], () => [before]);
  index.replace(before, stored('a', { app: 'api' }));
  expect(names(index.find('app', ['web'], () => []))).toEqual([]);
  expect(names(index.find('app', ['api'], () => []))).toEqual(['default/a']);
});

test('an object that loses the label, or goes, is found no more', () => {
  const index = createLabelIndex();
  const a = stored('a', { app: 'web' });
  const b = stored('b', { app: 'web' });
  index.find('app', ['web'], () => [a, b]);
  index.replace(a, stored('a', {}));
  index.replace(b, undefined);
  expect(index.find('app', ['web'], () => [])).toEqual([]);
});

test('objects of one name in two namespaces are two', () => {
  const index = createLabelIndex();
  index.find('app', [], () => []);
  index.replace(undefined, stored('a', { app: 'web' }, 'one'));
  index.replace(undefined, stored('a', { app: 'web' }, 'two'));
  expect(names(index.find('app', ['web', 'web'], () => []))).toEqual(['one/a', 'two/a']);
});
