import { expect, test } from 'vitest';
import { finalizersLeft } from '../../../../../manager/dispatch/controller/finalizers-left.ts';

const OWN = 'example.com/own';
const INTAKE = 'switchyard.dev/submission';

test.each([
  ['goes once the intake is done with the Job', [OWN, INTAKE], true, [OWN]],
  ['stays until then', [OWN, INTAKE], false, [OWN, INTAKE]],
])('the finalizer of a submission %s', (_, finalizers, noted, left) => {
  expect(finalizersLeft(finalizers, () => noted)).toEqual(left);
});

test('of a Job that is of no submission nobody is asked', () => {
  const ask = (): boolean => {
    throw new Error('asked');
  };
  expect(finalizersLeft([OWN], ask)).toEqual([OWN]);
});
