import { describe, expect, test } from 'vitest';
import { persistentVolumeClaimStrategy } from '../../../../../shared/controlplane/kinds/persistent-volume-claim.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const claims = driveKind(persistentVolumeClaimStrategy);
const storage = (amount: string): object => ({ resources: { requests: { storage: amount } } });
const data = (spec: object = {}): object => ({
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], ...storage('2Gi'), ...spec },
});
const IMMUTABLE =
  'spec | Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

describe('a PersistentVolumeClaim', () => {
  test('asks for a file system, and is pending', () => {
    const { object, findings } = claims.create({ ...data(), status: { phase: 'Bound' } });
    expect(findings).toEqual([]);
    expect(object).toMatchObject({ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } });
  });

  test.each([
    [{ accessModes: [] }, ['spec.accessModes | Required value: at least 1 access mode is required']],
    [{ resources: {} }, ['spec.resources[storage] | Required value']],
    [storage('0'), ['spec.resources[storage] | Invalid value: "0": must be greater than zero']],
    [{ volumeMode: 'Tape' }, ['spec.volumeMode | Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
  ])('with %j is refused', (spec, findings) => {
    expect(claims.create(data(spec)).findings).toEqual(findings);
  });

  test('gets a volume and a class once, and nothing else changes before it is bound', () => {
    const { object } = claims.create(data());
    const change = (stored: typeof object, parts: object): readonly string[] =>
      claims.update(stored, (next) => Object.assign(next['spec'] as object, parts)).findings;
    expect(change(object, { volumeName: 'disk', storageClassName: 'fast' })).toEqual([]);
    expect(change(object, storage('3Gi'))).toEqual([IMMUTABLE]);
    const { object: taken } = claims.create(data({ volumeName: 'disk', storageClassName: 'fast' }));
    expect(change(taken, { volumeName: 'other' })).toEqual([IMMUTABLE]);
    expect(change(taken, { storageClassName: 'slow' })).toEqual([IMMUTABLE]);
  });

  test('that is bound may ask for more, and for less than that, but not for as little as it has', () => {
    const { object } = claims.create(data({ volumeName: 'disk' }));
    const { object: bound, findings } = claims.updateStatus(object, { phase: 'Bound', capacity: { storage: '1Gi' } });
    expect(findings).toEqual([]);
    const resize = (amount: string): readonly string[] =>
      claims.update(bound, (next) => Object.assign(next['spec'] as object, storage(amount))).findings;
    expect(resize('5Gi')).toEqual([]);
    expect(resize('1500Mi')).toEqual([]);
    expect(resize('1Gi')).toEqual(['spec.resources.requests.storage | Forbidden: field can not be less than status.capacity']);
  });

  test('shows what its volume has once it has one', () => {
    const { object } = claims.create(data());
    const row = (of: typeof object): unknown[] | undefined =>
      persistentVolumeClaimStrategy.table?.cells(of, Date.parse('2026-01-01T00:00:05Z'));
    expect(row(object)).toEqual(['data', 'Pending', '', '', '', '', '<unset>', '5s', 'Filesystem']);
    const { object: named } = claims.create(data({ volumeName: 'disk', storageClassName: 'fast' }));
    const { object: bound } = claims.updateStatus(named, {
      phase: 'Bound',
      capacity: { storage: '4Gi' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
    });
    expect(row(bound)).toEqual(['data', 'Bound', 'disk', '4Gi', 'RWO,RWX', 'fast', '<unset>', '5s', 'Filesystem']);
  });
});
