import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { allowedByLastApplied, refreshLastApplied } from '../../../../../shared/controlplane/fields/last-applied.ts';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const schema = builtInSchema('', 'v1', 'ConfigMap');
if (schema === undefined) throw new Error('no schema of ConfigMap');

const aConfigMap = (data: Record<string, string>, annotation?: unknown): AnyObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'x',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(annotation === undefined
      ? {}
      : { annotations: { [ANNOTATION]: typeof annotation === 'string' ? annotation : JSON.stringify(annotation) } }),
  },
  data,
});
const applied = (data: Record<string, string>) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'x' }, data });
const allowed = (live: AnyObject | undefined, manager = 'kubectl') => {
  const paths = allowedByLastApplied(live, manager, schema);
  return paths === undefined ? undefined : [...paths].filter((path) => path.startsWith('.data'));
};

describe('kubectl may take over', () => {
  test('what it applied on the client side and what nobody has changed since', () => {
    expect(allowed(aConfigMap({ a: '1', b: 'changed', c: 'of others' }, applied({ a: '1', b: '2', gone: '3' })))).toEqual(['.data.a']);
  });

  test.each<[string, AnyObject | undefined, string?]>([
    ['of a new object', undefined],
    ['where it has applied nothing', aConfigMap({ a: '1' })],
    ['as another manager', aConfigMap({ a: '1' }, applied({ a: '1' })), 'helm'],
    ['where the annotation is no JSON', aConfigMap({ a: '1' }, '{')],
    ['where the annotation is no object', aConfigMap({ a: '1' }, [1])],
    ['where the annotation is of another version', aConfigMap({ a: '1' }, { ...applied({ a: '1' }), apiVersion: 'v2' })],
  ])('nothing %s', (_what, live, manager) => {
    expect(allowed(live, manager)).toBeUndefined();
  });
});

describe('the annotation of client-side apply', () => {
  const refreshed = (object: AnyObject, manager = 'kubectl') => {
    refreshLastApplied(object, { data: { a: '9' } }, manager);
    return object.metadata.annotations;
  };
  test('tells what was applied last, with a line feed as kubectl writes it', () => {
    expect(refreshed(aConfigMap({}, applied({ a: '1' })))).toEqual({ [ANNOTATION]: '{"data":{"a":"9"}}\n' });
  });
  test('is not added, and is left alone by others', () => {
    expect(refreshed(aConfigMap({}))).toBeUndefined();
    expect(refreshed(aConfigMap({}, 'as it was'), 'helm')).toEqual({ [ANNOTATION]: 'as it was' });
  });
});
