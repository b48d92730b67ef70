import { expect, test } from 'vitest';
import { wantedOf } from '../../../../../manager/cli/get/wanted.ts';

test.each([
  [[], [{ word: 'all', names: [] }]],
  [['jobsets'], [{ word: 'jobsets', names: [] }]],
  [['jobs', 'a', 'b'], [{ word: 'jobs', names: ['a', 'b'] }]],
  [
    ['jobset/train', 'job/a', 'jobset/b'],
    [
      { word: 'jobset', names: ['train', 'b'] },
      { word: 'job', names: ['a'] },
    ],
  ],
])('%j asks for %j', (operands, wanted) => {
  expect(wantedOf(operands)).toEqual(wanted);
});

test.each([
  [['all', 'train'], 'NAME: all is no kind; write KIND/train, such as job/train'],
  [['jobs', 'job/train'], 'NAME: "job/train" has a slash; write KIND/NAME without a KIND before it, and a namespace as --namespace'],
  [['job/a', 'b'], 'NAME: "b" names no object; write KIND/NAME, such as job/train'],
  [['job/'], 'NAME: "job/" names no object; write KIND/NAME, such as job/train'],
  [['team/job/a'], 'NAME: "team/job/a" names no object; write KIND/NAME, such as job/train'],
  [['all/a'], 'NAME: "all/a" names no object; write KIND/NAME, such as job/train'],
])('%j is refused', (operands, problem) => {
  expect(() => wantedOf(operands)).toThrow(problem);
});
