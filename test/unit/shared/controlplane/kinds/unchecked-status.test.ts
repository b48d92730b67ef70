import { expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { uncheckedStatus } from '../../../../../shared/controlplane/kinds/unchecked-status.ts';

const stored = {
  metadata: { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' },
  spec: { size: 1 },
  status: {},
} as unknown as AnyObject;

test('a status is taken as it is, and the spec beside it stays as it was', () => {
  const next = { ...structuredClone(stored), spec: { size: 2 }, status: { anything: 'goes' } } as AnyObject;
  uncheckedStatus.prepareForUpdate?.(next, stored);
  expect(next).toMatchObject({ spec: { size: 1 }, status: { anything: 'goes' } });
  expect(uncheckedStatus.validateUpdate?.(next, stored)).toEqual([]);
});

test('metadata that must not change is refused with it', () => {
  const next = { ...structuredClone(stored), metadata: { ...stored.metadata, uid: 'another' } } as AnyObject;
  expect(uncheckedStatus.validateUpdate?.(next, stored)).toEqual([expect.objectContaining({ field: 'metadata.uid' })]);
});
