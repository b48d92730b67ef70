import { expect, test } from 'vitest';
import { formatKey, keyOf, keyOfObject, objectKey, parseKey } from '../../../../shared/kube/keys.ts';

test.each([
  [{ namespace: 'ns', name: 'job' }, 'ns/job'],
  [{ namespace: '', name: 'node' }, 'node'],
])('the key of %j is %s, and back', (key, text) => {
  expect(formatKey(key)).toBe(text);
  expect(parseKey(text)).toEqual(key);
});

test('an object of the cluster has no namespace in its key', () => {
  expect(keyOf(undefined, 'node')).toBe('node');
  expect(keyOfObject({ metadata: { name: 'node' } })).toBe('node');
  expect(keyOfObject({ metadata: { name: 'job', namespace: 'ns' } })).toBe('ns/job');
  expect(objectKey({ metadata: { name: 'node' } })).toEqual({ namespace: '', name: 'node' });
});
