import { expect, test } from 'vitest';
import { formatReference, podReferences, withReferences } from '../../../../manager/api/pod-references.ts';
import type { PodSpec } from '../../../../shared/api/kubernetes.ts';

const POD: PodSpec = {
  imagePullSecrets: [{ name: 'pull' }, {}],
  initContainers: [{ name: 'init', envFrom: [{ secretRef: { name: 'init-secret', optional: true } }] }],
  containers: [
    {
      name: 'main',
      env: [
        { name: 'PLAIN', value: 'x' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a', optional: true } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'token', key: 'b' } } },
      ],
      envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'P_', secretRef: { name: 'token' } }],
    },
  ],
  volumes: [
    { name: 'a', configMap: { name: 'files' } },
    { name: 'b', secret: { secretName: 'keys', optional: true } },
    { name: 'c', projected: { sources: [{ configMap: { name: 'projected' } }, { secret: { name: 'projected' } }, { downwardAPI: {} }] } },
    { name: 'd', emptyDir: {} },
  ],
};

test('every place of a pod that refers to a ConfigMap or a Secret is found, each object once', () => {
  const found = podReferences(POD).map((reference) => `${formatReference('team', reference)}${reference.optional ? ' (optional)' : ''}`);
  expect(found.toSorted()).toEqual([
    'configmap team/files',
    'configmap team/projected',
    'configmap team/settings',
    'secret team/init-secret (optional)',
    'secret team/keys (optional)',
    'secret team/projected',
    'secret team/pull',
    'secret team/token',
  ]);
});

test('every reference gets its new name, and nothing else changes', () => {
  const renamed = withReferences(POD, ({ kind, name }) => `${name}-${kind[0]}`);
  expect(podReferences(renamed).map(({ name }) => name)).toEqual(podReferences(POD).map(({ kind, name }) => `${name}-${kind[0]}`));
  const back = withReferences(renamed, ({ name }) => name.slice(0, -2));
  expect(back).toEqual(POD);
  expect(withReferences(POD, () => undefined)).toEqual(POD);
});

test('a pod without references, a missing pod, and null in place of a list are read', () => {
  expect(podReferences(undefined)).toEqual([]);
  expect(podReferences({ containers: [{ name: 'main' }] })).toEqual([]);
  expect(podReferences({ containers: [{ name: 'main', env: null, envFrom: null }], volumes: null } as unknown as PodSpec)).toEqual([]);
});
