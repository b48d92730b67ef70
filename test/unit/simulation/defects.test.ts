import { expect, test } from 'vitest';
import { type Defect, DEFECTS, withDefect } from '../../simulation/dispatch/defects.ts';

test.each<Defect>([...DEFECTS])('$name can still be put back: its place stands in the program', (defect) => {
  expect(withDefect(defect)).toContain(defect.wrong);
});

test('a place that is not there is no silent success', () => {
  expect(() => withDefect({ name: 'none', file: 'manager/manager.ts', right: 'nowhere to be found', wrong: '' })).toThrow('0 times');
});
