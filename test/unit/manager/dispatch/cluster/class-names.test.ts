import { expect, test } from 'vitest';
import { PRIORITY_CLASSES_MAX } from '../../../../../manager/api/priority-class.ts';
import { essentialsOfClass, priorityClassNames, runtimeClassNames } from '../../../../../manager/dispatch/cluster/class-names.ts';

const classes = (...names: string[]) =>
  names.map((name) =>
    essentialsOfClass({ metadata: { name, namespace: '', uid: name, resourceVersion: '1', creationTimestamp: '', labels: { a: 'b' } } }),
  );

test('PriorityClasses are listed by name, without those of the system and without what is no name', () => {
  expect(priorityClassNames(classes('urgent', 'batch', 'system-node-critical', 'not a name', 'x'.repeat(300)))).toEqual([
    'batch',
    'urgent',
  ]);
});

test('RuntimeClasses are listed by name, whatever they are called', () => {
  expect(runtimeClassNames(classes('system-sandbox', 'gvisor', 'not a name'))).toEqual(['gvisor', 'system-sandbox']);
});

test('of more than the status of a WorkerCluster may have, none is listed', () => {
  const names = Array.from({ length: PRIORITY_CLASSES_MAX + 1 }, (_, index) => `class-${index}`);
  expect(priorityClassNames(classes(...names))).toBeUndefined();
  expect(runtimeClassNames(classes(...names))).toBeUndefined();
  expect(priorityClassNames(classes(...names.slice(1)))).toHaveLength(PRIORITY_CLASSES_MAX);
});

test('nothing but the name and the identity of a class is kept', () => {
  expect(classes('urgent')).toEqual([
    { metadata: { name: 'urgent', namespace: '', uid: 'urgent', resourceVersion: '1', creationTimestamp: '' } },
  ]);
});
