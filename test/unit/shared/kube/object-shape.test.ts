import { expect, test } from 'vitest';
import { checkListed, checkWatched } from '../../../../shared/kube/object-shape.ts';

const metadata = { name: 'a', namespace: 'team', uid: 'u', resourceVersion: '7' };

test('objects of namespaces and of the cluster are what a list may hold', () => {
  expect(() => checkListed({ metadata })).not.toThrow();
  expect(() => checkListed({ metadata: { name: 'node', uid: 'u', resourceVersion: 'opaque' } })).not.toThrow();
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'object'],
  ['an object without metadata', {}],
  ['metadata that is a list', { metadata: [] }],
  ['no name', { metadata: { ...metadata, name: '' } }],
  ['a name of a megabyte', { metadata: { ...metadata, name: 'x'.repeat(1_000_000) } }],
  ['a namespace that is an object', { metadata: { ...metadata, namespace: {} } }],
  ['a UID that is a number', { metadata: { ...metadata, uid: 7 } }],
  ['no version', { metadata: { ...metadata, resourceVersion: undefined } }],
  ['a version of a megabyte', { metadata: { ...metadata, resourceVersion: '9'.repeat(1_000_000) } }],
])('%s is no object of Kubernetes', (_what, item) => {
  expect(() => checkListed(item)).toThrow('an object has no name, UID and resourceVersion of Kubernetes');
});

test('a bookmark is a version and nothing else', () => {
  expect(() => checkWatched({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } })).not.toThrow();
  expect(() => checkWatched({ type: 'BOOKMARK', object: { metadata: {} } })).toThrow('a bookmark has no resourceVersion');
  expect(() => checkWatched({ type: 'MODIFIED', object: { metadata: { resourceVersion: '7' } } })).toThrow('an object has no name');
});
