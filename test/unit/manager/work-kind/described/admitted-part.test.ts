import { expect, test } from 'vitest';
import { admittedPart } from '../../../../../manager/work-kind/described/admitted-part.ts';

test('the part of an object with one pod set is as large as its record says, where the description says where its count is', () => {
  const only = { name: 'deck', count: 5, template: {}, templatePath: undefined, finished: 0, countPath: ['spec', 'hands'] };
  const crew = { metadata: {}, spec: { hands: 5 } };
  expect(admittedPart([only], crew, { parallelism: 2 })).toEqual({ metadata: {}, spec: { hands: 2 } });
  expect(admittedPart([{ ...only, countPath: undefined }], crew, { parallelism: 2 })).toBe(crew);
});
