import { expect, test } from 'vitest';
import { type Defect, DEFECTS, withEdit } from '../../simulation/dispatch/defects.ts';

test.each<Defect>([...DEFECTS])('$name can still be put back: its places stand in the programs', ({ edits }) => {
  for (const edit of edits) expect(withEdit(edit)).toContain(edit.wrong);
});

test('a place that is not there is no silent success', () => {
  expect(() => withEdit({ file: 'manager/manager.ts', right: 'nowhere to be found', wrong: '' })).toThrow('0 times');
});
