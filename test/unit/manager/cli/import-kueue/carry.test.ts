import { describe, expect, test } from 'vitest';
import { carry, type FieldSchema } from '../../../../../manager/cli/import-kueue/carry.ts';

const SCHEMA: FieldSchema = {
  properties: {
    name: { minLength: 1 },
    policy: { enum: ['None', 'Hold'] },
    labels: {},
    groups: { items: { properties: { quota: {} } } },
  },
};

describe('carrying a value over', () => {
  test('takes what the schema has, maps and lists included', () => {
    const value = { name: 'a', policy: 'Hold', labels: { any: 'thing' }, groups: [{ quota: 1 }, { quota: '2' }] };
    expect(carry(SCHEMA, value, 'spec')).toEqual({ value, left: [] });
  });

  test('leaves behind what it has not, and says where that stood', () => {
    expect(carry(SCHEMA, { name: 'a', weight: { of: 2 }, groups: [{}, { quota: 1, rank: 3 }] }, 'spec')).toEqual({
      value: { name: 'a', groups: [{}, { quota: 1 }] },
      left: [
        { path: 'spec.weight', value: { of: 2 }, why: 'NoField' },
        { path: 'spec.groups[1].rank', value: 3, why: 'NoField' },
      ],
    });
  });

  test('leaves behind a word that it has not', () => {
    expect(carry(SCHEMA, { policy: 'Drain' }, '')).toEqual({
      value: {},
      left: [{ path: 'policy', value: 'Drain', why: 'NoChoice' }],
    });
  });

  test('takes null for absent, and so an empty name', () => {
    expect(carry(SCHEMA, { name: '', policy: null, weight: null }, '')).toEqual({ value: {}, left: [] });
  });

  test('writes a number that is not whole as text', () => {
    expect(carry(SCHEMA, { groups: [{ quota: 0.5 }, { quota: -1 }] }, '').value).toEqual({ groups: [{ quota: '0.5' }, { quota: -1 }] });
  });

  test('has no fields but those that are written down', () => {
    expect(carry(SCHEMA, JSON.parse('{"__proto__": 1, "toString": 2}') as unknown, '').left.map(({ path }) => path)).toEqual([
      '__proto__',
      'toString',
    ]);
  });
});
