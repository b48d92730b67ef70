import { expect, test } from 'vitest';
import { validateImmutable } from '../../../../../shared/controlplane/kinds/immutable-field.ts';

test('a field that keeps its meaning is unchanged, and one that goes is null', () => {
  expect(validateImmutable({ a: [] }, { a: undefined }, 'spec')).toEqual([]);
  expect(validateImmutable('same', 'same', 'spec.name')).toEqual([]);
  expect(validateImmutable(undefined, 'was', 'spec.name')).toMatchObject([
    { field: 'spec.name', body: 'Invalid value: null: field is immutable' },
  ]);
});
