import { describe, expect, test } from 'vitest';
import { applyStrategicMergePatch } from '../../../../../shared/controlplane/patch/strategic-merge-patch.ts';
import { modelSchema } from '../../../../../shared/controlplane/schema/builtin.ts';

const pod = modelSchema('V1Pod');
const specOf = (spec: object, patch: object): unknown => applyStrategicMergePatch({ spec }, { spec: patch }, pod).spec;
const metadataOf = (metadata: object, patch: object): unknown => applyStrategicMergePatch({ metadata }, { metadata: patch }, pod).metadata;

describe('lists with a merge key', () => {
  const containers = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i', env: [{ name: 'E', value: '1' }] },
  ];

  test('elements merge by key; new ones come before those that only the server has', () => {
    expect(specOf({ containers }, { containers: [{ name: 'new' }, { name: 'b', env: [{ name: 'F', value: '2' }] }] })).toEqual({
      containers: [
        { name: 'new' },
        { name: 'a', image: 'i' },
        {
          name: 'b',
          image: 'i',
          env: [
            { name: 'F', value: '2' },
            { name: 'E', value: '1' },
          ],
        },
      ],
    });
  });

  test('$patch: delete removes one element, $patch: replace all others', () => {
    expect(specOf({ containers }, { containers: [{ $patch: 'delete', name: 'a' }] })).toEqual({ containers: [containers[1]] });
    expect(specOf({ containers }, { containers: [{ $patch: 'replace' }, { name: 'only' }] })).toEqual({ containers: [{ name: 'only' }] });
  });

  test('$setElementOrder reorders without any change to the elements', () => {
    expect(specOf({ containers }, { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] })).toEqual({
      containers: [containers[1], containers[0]],
    });
  });

  test('an element without the key is refused with the words of the server', () => {
    expect(() => specOf({ containers }, { containers: [{ image: 'x' }] })).toThrow(
      'map: map[image:x] does not contain declared merge key: name',
    );
  });

  test('an unknown directive is refused', () => {
    expect(() => specOf({ containers }, { containers: [{ $patch: 'bogus', name: 'a' }] })).toThrow(
      'unknown patch type: bogus in map: map[$patch:bogus name:a]',
    );
  });

  test('$retainKeys drops the volume source that is not named', () => {
    const volumes = [{ name: 'v', emptyDir: {} }];
    expect(specOf({ volumes }, { volumes: [{ $retainKeys: ['name', 'secret'], name: 'v', secret: { secretName: 's' } }] })).toEqual({
      volumes: [{ name: 'v', secret: { secretName: 's' } }],
    });
  });
});

test('a list without merge key is replaced', () => {
  expect(specOf({ tolerations: [{ key: 'x' }] }, { tolerations: [{ key: 'y' }] })).toEqual({ tolerations: [{ key: 'y' }] });
});

test('finalizers unite, and leave by $deleteFromPrimitiveList', () => {
  expect(metadataOf({ finalizers: ['e.com/a'] }, { finalizers: ['e.com/b', 'e.com/a'] })).toEqual({ finalizers: ['e.com/b', 'e.com/a'] });
  expect(metadataOf({ finalizers: ['e.com/a', 'e.com/b'] }, { '$deleteFromPrimitiveList/finalizers': ['e.com/a'] })).toEqual({
    finalizers: ['e.com/b'],
  });
});

test('maps merge, null removes a key, and directives replace or empty them', () => {
  const nodeSelector = { k: 'v', m: 'n' };
  expect(specOf({ nodeSelector }, { nodeSelector: { k: null, q: 'r' } })).toEqual({ nodeSelector: { m: 'n', q: 'r' } });
  expect(specOf({ nodeSelector }, { nodeSelector: { $patch: 'replace', only: 'this' } })).toEqual({ nodeSelector: { only: 'this' } });
  expect(specOf({ nodeSelector }, { nodeSelector: { $patch: 'delete' } })).toEqual({ nodeSelector: {} });
});

test('what is added carries neither nulls nor objects that are only a directive', () => {
  expect(specOf({}, { securityContext: { runAsUser: 1, fsGroup: null, sysctls: [{ $patch: 'delete', name: 'x' }] } })).toEqual({
    securityContext: { runAsUser: 1, sysctls: [] },
  });
  expect(specOf({}, { nodeSelector: { $patch: 'replace', a: 'b' } })).toEqual({});
});

test('a new element of a list is taken as it is, directives and all', () => {
  expect(specOf({ containers: [{ name: 'a' }] }, { containers: [{ name: 'b', '$setElementOrder/env': [] }] })).toEqual({
    containers: [{ name: 'b', '$setElementOrder/env': [] }, { name: 'a' }],
  });
});

test('elements of different types are refused', () => {
  expect(() => specOf({ containers: [{ name: 'a' }] }, { containers: ['a'] })).toThrow(
    'list element types are not identical: [[map[name:a]] [a]]',
  );
  expect(() => metadataOf({ finalizers: ['e.com/a'] }, { finalizers: [{ $patch: 'replace' }] })).toThrow('list element types are not');
  expect(() => metadataOf({ finalizers: ['e.com/a'] }, { finalizers: [['x']] })).toThrow('list element types are not');
});

test('an order that is no list, or of a field that does not exist, is refused', () => {
  expect(() => specOf({}, { '$setElementOrder/containers': 'a' })).toThrow('expected a []interface {}, but received a string');
  expect(() => specOf({}, { '$setElementOrder/bogus': [] })).toThrow(
    'unable to find api field in struct PodSpec for the json field "bogus"',
  );
});

test('$retainKeys need not name what other directives are about', () => {
  const patch = { $retainKeys: ['finalizers'], '$deleteFromPrimitiveList/finalizers': ['e.com/a'] };
  expect(metadataOf({ name: 'x', finalizers: ['e.com/a', 'e.com/b'] }, patch)).toEqual({ finalizers: ['e.com/b'] });
});

test('neither the document nor the patch is changed', () => {
  const [document, patch] = [
    { spec: { containers: [{ name: 'a' }] } },
    { spec: { containers: [{ name: 'a', image: 'x' }], '$setElementOrder/containers': [{ name: 'a' }] } },
  ];
  const before = structuredClone([document, patch]);
  applyStrategicMergePatch(document, patch, pod);
  expect([document, patch]).toEqual(before);
});
