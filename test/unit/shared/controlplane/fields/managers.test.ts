import { describe, expect, test } from 'vitest';
import {
  capUpdateManagers,
  isSameManager,
  type Manager,
  readManagers,
  withoutEmpty,
  writeManagers,
} from '../../../../../shared/controlplane/fields/managers.ts';

const aManager = (name: string, parts: Partial<Manager> = {}): Manager => ({
  name,
  operation: 'Update',
  apiVersion: 'v1',
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  fields: { [`f:${name}`]: {} },
  ...parts,
});
const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const names = (managers: readonly Manager[]): string[] => managers.map(({ name }) => name);

describe('managedFields', () => {
  test('are read back as they were written', () => {
    const managers = [aManager('a', { operation: 'Apply', subresource: 'status' }), aManager('b', { time: undefined }), aManager('')];
    expect(readManagers(writeManagers(managers, false))).toEqual(expect.arrayContaining(managers));
  });

  test('say nothing that is empty', () => {
    expect(writeManagers([aManager('', { time: undefined })], false)).toEqual([
      { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:': {} } },
    ]);
  });

  test('may be absent, but not malformed', () => {
    expect(readManagers(undefined)).toEqual([]);
    const right = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
    expect(readManagers([right])).toHaveLength(1);
    for (const wrong of [
      null,
      'x',
      { ...right, operation: 'Delete' },
      { ...right, apiVersion: '' },
      { ...right, fieldsType: 'FieldsV2' },
      {},
    ])
      expect(readManagers([right, wrong])).toBeUndefined();
  });

  test('stand in order: appliers first, then by time and by name', () => {
    const managers = [
      aManager('z', { time: at(2) }),
      aManager('b', { time: at(1) }),
      aManager('a', { time: at(1) }),
      aManager('x', { operation: 'Apply', time: at(9) }),
    ];
    expect(writeManagers(managers, false).map((entry) => Reflect.get(entry, 'manager') as unknown)).toEqual(['x', 'a', 'b', 'z']);
  });

  test('without fields are dropped', () => {
    expect(names(withoutEmpty([aManager('a'), aManager('b', { fields: {} })]))).toEqual(['a']);
  });
});

describe('two entries are of one manager', () => {
  test.each<[Partial<Manager>, boolean]>([
    [{ time: at(5), fields: {} }, true],
    [{ name: 'b' }, false],
    [{ operation: 'Apply' }, false],
    [{ subresource: 'status' }, false],
    [{ apiVersion: 'v2' }, false],
  ])('that differ in %j: %s', (parts, same) => {
    expect(isSameManager(aManager('a'), { ...aManager('a'), ...parts })).toBe(same);
  });
  test('although an applier has changed its version', () => {
    expect(isSameManager(aManager('a', { operation: 'Apply' }), aManager('a', { operation: 'Apply', apiVersion: 'v2' }))).toBe(true);
  });
});

describe('entries of updates', () => {
  const updates = (count: number, parts: Partial<Manager> = {}) =>
    Array.from({ length: count }, (_, n) => aManager(`m${n}`, { time: at(n), ...parts }));

  test('are kept apart up to ten', () => {
    expect(capUpdateManagers(updates(10))).toEqual(updates(10));
  });

  test('beyond ten become one, the oldest first, with all their fields and their latest time', () => {
    const capped = capUpdateManagers(updates(12));
    expect(names(capped)).toEqual(['m3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'ancient-changes']);
    expect(capped.at(-1)).toMatchObject({ time: at(2), subresource: '', fields: { 'f:m0': {}, 'f:m1': {}, 'f:m2': {} } });
  });

  test('of different versions are not put together', () => {
    const managers = [aManager('old', { apiVersion: 'v0', time: at(0) }), ...updates(10).map((manager) => ({ ...manager, time: at(20) }))];
    const capped = capUpdateManagers(managers);
    expect(capped).toHaveLength(10);
    expect(names(capped)).toContain('old');
  });

  test('are not crowded out by appliers', () => {
    const managers = [...updates(10), ...updates(5, { operation: 'Apply' })];
    expect(capUpdateManagers(managers)).toEqual(managers);
  });
});
