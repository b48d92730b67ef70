import { expect, test } from 'vitest';
import { accessModesText, validateAccessModes } from '../../../../../shared/controlplane/kinds/access-modes.ts';

test('access modes are shortened in one order, each once', () => {
  expect(accessModesText(['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod', 'ReadOnlyMany'])).toBe('RWO,ROX,RWX,RWOP');
});

test('an unknown access mode is refused with those that there are', () => {
  expect(validateAccessModes(['WriteOnly'], 'spec')).toMatchObject([
    {
      field: 'spec.accessModes',
      body: 'Unsupported value: "WriteOnly": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    },
  ]);
});
