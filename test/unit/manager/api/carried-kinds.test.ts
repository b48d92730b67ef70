import { expect, test } from 'vitest';
import { CARRIED_KINDS, isCarriedKind } from '../../../../manager/api/carried-kinds.ts';
import { carryWishOf } from '../../../../manager/api/job-annotations.ts';
import { CARRY_ANNOTATION } from '../../../../shared/api/names.ts';

test('ConfigMaps and Secrets can travel, and nothing else', () => {
  expect(CARRIED_KINDS.every(isCarriedKind)).toBe(true);
  expect(['configmaps', 'ServiceAccounts', '', undefined].some(isCarriedKind)).toBe(false);
});

test.each([
  ['ConfigMaps', ['ConfigMaps']],
  [' Secrets , ConfigMaps', ['ConfigMaps', 'Secrets']],
  ['None', []],
  [undefined, undefined],
])('a Job that says %j takes %j along', (text, kinds) => {
  const annotations = text === undefined ? {} : { [CARRY_ANNOTATION]: text };
  expect(carryWishOf({ metadata: { annotations } })).toEqual({ kind: 'Carry', kinds });
});

test.each(['', 'secrets', 'ConfigMaps,', 'ConfigMaps,None', 'Secrets,Secrets', 'All'])(
  'a Job that says %j is told what it may say',
  (text) => {
    expect(carryWishOf({ metadata: { annotations: { [CARRY_ANNOTATION]: text } } })).toEqual({
      kind: 'Invalid',
      problem: `is ${JSON.stringify(text)}; it must be "ConfigMaps", "Secrets", "ConfigMaps,Secrets" or "None"`,
    });
  },
);
