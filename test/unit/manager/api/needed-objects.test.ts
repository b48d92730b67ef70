import { expect, test } from 'vitest';
import { formatNeededObject, NEEDED_OBJECTS_MAX, neededObjects } from '../../../../manager/api/needed-objects.ts';
import type { PodSpec } from '../../../../shared/api/kubernetes.ts';

const claims = (...names: string[]): NonNullable<PodSpec['volumes']> =>
  names.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } }));
const pod = (parts: Partial<PodSpec>): PodSpec => ({ containers: [], ...parts });

test('pods need the PersistentVolumeClaims of their volumes and the ServiceAccount that they name, each once', () => {
  const spec = pod({ volumes: [...claims('b', 'a', 'b'), { name: 'own', emptyDir: {} }], serviceAccountName: 'trainer' });
  expect(neededObjects(spec).map((each) => formatNeededObject('team', each))).toEqual([
    'PersistentVolumeClaim team/a',
    'PersistentVolumeClaim team/b',
    'ServiceAccount team/trainer',
  ]);
});

test('the ServiceAccount default exists in every namespace, and the deprecated field counts too', () => {
  expect(neededObjects(pod({ serviceAccountName: 'default' }))).toEqual([]);
  expect(neededObjects(pod({ serviceAccount: 'trainer' }))).toEqual([{ kind: 'ServiceAccount', name: 'trainer' }]);
  expect(neededObjects(pod({ serviceAccountName: 'one', serviceAccount: 'other' }))).toEqual([{ kind: 'ServiceAccount', name: 'one' }]);
});

test('pods that name nothing, null fields and claims that are made for the pod need nothing', () => {
  const ephemeral = { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } };
  const nulls = { volumes: null, serviceAccountName: null } as unknown as PodSpec;
  for (const spec of [undefined, pod({}), pod(nulls), pod({ volumes: [ephemeral] })]) expect(neededObjects(spec)).toEqual([]);
});

test('of a Job with hundreds of claims the first are asked for', () => {
  const many = Array.from({ length: 500 }, (_, index) => `claim-${String(index).padStart(3, '0')}`);
  const needed = neededObjects(pod({ volumes: claims(...many.toReversed()), serviceAccountName: 'trainer' }));
  expect(needed.map(({ name }) => name)).toEqual(many.slice(0, NEEDED_OBJECTS_MAX));
});
