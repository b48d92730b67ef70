import { expect, test } from 'vitest';
import type { FieldSet } from '../../../../../shared/controlplane/fields/field-set.ts';
import type { Manager } from '../../../../../shared/controlplane/fields/managers.ts';
import { managersAfterScale, managersOfScale } from '../../../../../shared/controlplane/fields/scale-managers.ts';

const REPLICAS: FieldSet = { 'f:spec': { 'f:replicas': {} } };
const aManager = (name: string, fields: FieldSet, more: Partial<Manager> = {}): Manager => ({
  name,
  operation: 'Apply',
  apiVersion: 'apps/v1',
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  fields,
  ...more,
});
/** Served in v1; v2 has no scale. */
const replicasOf = (apiVersion: string): FieldSet | null | undefined =>
  apiVersion === 'apps/v1' ? REPLICAS : apiVersion === 'apps/v2' ? null : undefined;
const owner = aManager('owner', { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } });
const scaler = aManager('scaler', REPLICAS, { apiVersion: 'autoscaling/v1', subresource: 'scale' });

test('a Scale has the managers that own the replicas', () => {
  const other = aManager('other', { 'f:spec': { 'f:paused': {} } });
  expect(managersOfScale([owner, other, aManager('old', REPLICAS, { apiVersion: 'apps/v2' })], replicasOf)).toEqual([
    { ...owner, apiVersion: 'autoscaling/v1', fields: REPLICAS },
  ]);
});

test('a new owner takes the replicas from the present one, and has no time', () => {
  expect(managersAfterScale([owner], [scaler], replicasOf, 'apps/v1')).toEqual([
    { ...owner, fields: { 'f:spec': { 'f:paused': {} } } },
    { ...scaler, apiVersion: 'apps/v1', time: undefined },
  ]);
});

test('an owner of the Scale stays as it was in the object', () => {
  expect(managersAfterScale([owner], managersOfScale([owner], replicasOf), replicasOf, 'apps/v1')).toEqual([owner]);
});

test('managers of versions that are gone are dropped, those of versions without a scale stay', () => {
  const kept = aManager('kept', REPLICAS, { apiVersion: 'apps/v2' });
  expect(managersAfterScale([kept, aManager('gone', REPLICAS, { apiVersion: 'apps/v0' })], [], replicasOf, 'apps/v1')).toEqual([kept]);
});
