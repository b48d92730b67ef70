import { expect, test } from 'vitest';
import { PRIORITY_CLASSES_MAX } from '../../../../../manager/api/priority-class.ts';
import { essentialsOfPriorityClass, namesOfClasses } from '../../../../../manager/dispatch/cluster/priority-classes.ts';

const classes = (...names: string[]) =>
  names.map((name) =>
    essentialsOfPriorityClass({ metadata: { name, namespace: '', uid: name, resourceVersion: '1', creationTimestamp: '' }, value: 7 }),
  );

test('classes are told by name, those of the system and what is no name excepted', () => {
  expect(namesOfClasses(classes('urgent', 'batch', 'system-node-critical', 'not a name', 'x'.repeat(300)))).toEqual(['batch', 'urgent']);
});

test('of more than a WorkerCluster can tell of none is told', () => {
  const names = Array.from({ length: PRIORITY_CLASSES_MAX + 1 }, (_, index) => `class-${index}`);
  expect(namesOfClasses(classes(...names))).toBeUndefined();
  expect(namesOfClasses(classes(...names.slice(1)))).toHaveLength(PRIORITY_CLASSES_MAX);
});
