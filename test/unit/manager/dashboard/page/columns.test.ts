import { expect, test } from 'vitest';
import { canBeHidden, chosenColumns, COLUMNS, toggled } from '../../../../../manager/dashboard/page/columns.ts';

const ids = (text: string | null): string[] => chosenColumns(text).map(({ id }) => id);

test('a browser that has kept nothing shows the columns of everybody', () => {
  expect(ids(null)).toEqual(['job', 'state', 'queue', 'cluster', 'pods', 'age', 'took', 'why']);
  expect(ids(null).includes('user')).toBe(false);
});

test('one column more or less is kept in the order of all, and the columns of everybody as nothing', () => {
  const more = toggled(chosenColumns(null), 'user');
  expect(ids(more)).toEqual(['job', 'state', 'queue', 'cluster', 'user', 'pods', 'age', 'took', 'why']);
  expect(ids(toggled(chosenColumns(more), 'pods'))).not.toContain('pods');
  expect(toggled(chosenColumns(more), 'user')).toBeNull();
});

test('the name of a Job is always there, whatever a browser has kept', () => {
  expect(ids('')).toEqual(['job']);
  expect(ids('nonsense,state')).toEqual(['job', 'state']);
  expect(COLUMNS.filter((column) => !canBeHidden(column)).map(({ id }) => id)).toEqual(['job']);
});
