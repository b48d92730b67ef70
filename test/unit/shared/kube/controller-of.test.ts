import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../../shared/api/kubernetes.ts';
import { controllerOf } from '../../../../shared/kube/controller-of.ts';

test('of the owners of an object the one that controls it is its controller', () => {
  const owner = (name: string, controller?: boolean): OwnerReference => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name,
    uid: name,
    ...(controller === undefined ? {} : { controller }),
  });
  const of = (...ownerReferences: OwnerReference[]) => controllerOf({ metadata: { ownerReferences } })?.name;
  expect(of(owner('a'), owner('b', true), owner('c', false))).toBe('b');
  expect(of(owner('a'), owner('c', false))).toBeUndefined();
  expect(of()).toBeUndefined();
  expect(controllerOf({ metadata: {} })).toBeUndefined();
});
