import { expect, test } from 'vitest';
import { ANSWER_FAULTS, UnusableAnswer } from '../../../../shared/kube/unusable-answer.ts';

test('every fault is a word that can stand as the reason of a condition', () => {
  for (const fault of ANSWER_FAULTS) {
    expect(fault).toMatch(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
    expect(new UnusableAnswer(fault, 'because')).toMatchObject({ name: 'UnusableAnswer', fault, message: 'because' });
  }
});
