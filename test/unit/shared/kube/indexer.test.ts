import { expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';

const job = (name: string, namespace: string, labels: Record<string, string> = {}): Job => ({
  metadata: { name, namespace, uid: `${namespace}-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels },
  spec: { template: {} },
});
const aCache = () => createObjectCache<Job>({ labels: ({ metadata }) => Object.values(metadata.labels ?? {}) });
const names = (jobs: readonly { readonly metadata: { readonly name: string } }[]): string[] => jobs.map(({ metadata }) => metadata.name);

test('an object is found under each value of an index, and under the new ones only once it has changed', () => {
  const cache = aCache();
  cache.set(job('a', 'ns', { x: 'red', y: 'blue' }));
  expect(names(cache.byIndex('labels', 'red'))).toEqual(['a']);
  expect(names(cache.byIndex('labels', 'blue'))).toEqual(['a']);
  cache.set(job('a', 'ns', { x: 'green' }));
  expect(names(cache.byIndex('labels', 'red'))).toEqual([]);
  expect(names(cache.byIndex('labels', 'green'))).toEqual(['a']);
  expect(cache.size()).toBe(1);
});

test('an object that is removed is in no list and in no index', () => {
  const cache = aCache();
  cache.set(job('a', 'ns', { x: 'red' }));
  expect(cache.remove('ns/a')?.metadata.name).toBe('a');
  expect(cache.remove('ns/a')).toBeUndefined();
  expect(cache.list()).toEqual([]);
  expect(cache.list('ns')).toEqual([]);
  expect(cache.byIndex('labels', 'red')).toEqual([]);
});

test('a list may be of one namespace', () => {
  const cache = aCache();
  cache.set(job('a', 'one'));
  cache.set(job('b', 'two'));
  expect(names(cache.list('one'))).toEqual(['a']);
  expect(names(cache.list(''))).toEqual(['a', 'b']);
  expect(cache.get({ namespace: 'two', name: 'b' })).toBe(cache.byKey('two/b'));
});

test('to ask for an index that does not exist is a mistake', () => {
  expect(() => aCache().byIndex('colour', 'red')).toThrow('the cache has no index "colour"');
});
