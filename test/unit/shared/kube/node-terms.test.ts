import { expect, test } from 'vitest';
import { isEmptyTerm, nodeRequirements, requiredTerms } from '../../../../shared/kube/node-terms.ts';
import { matchesLabelSelector } from '../../../../shared/kube/selectors.ts';

test('only what is required of nodes counts, not what is preferred', () => {
  const terms = [{ matchExpressions: [{ key: 'type', operator: 'Exists' }] }];
  const affinity = (nodeAffinity: object) => ({ containers: [], affinity: { nodeAffinity } });
  expect(requiredTerms(affinity({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }))).toEqual(terms);
  expect(
    requiredTerms(affinity({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: terms[0] }] })),
  ).toBeUndefined();
  expect(requiredTerms({ containers: [] })).toBeUndefined();
});

test('the requirements of a term are matched as those of a selector, and numbers besides', () => {
  const requirements = nodeRequirements([
    { key: 'type', operator: 'In', values: ['one'] },
    { key: 'gone', operator: 'DoesNotExist' },
    { key: 'generation', operator: 'Gt', values: ['9'] },
  ]);
  expect(matchesLabelSelector(requirements, { type: 'one', generation: '10' })).toBe(true);
  expect(matchesLabelSelector(requirements, { type: 'one', generation: '9' })).toBe(false);
  expect(matchesLabelSelector(requirements, { type: 'two', generation: '10' })).toBe(false);
  expect(nodeRequirements(undefined)).toEqual([]);
});

test('a term is empty that asks nothing of labels or fields', () => {
  const named = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] };
  expect([{}, { matchExpressions: [] }, named].map(isEmptyTerm)).toEqual([true, true, false]);
});
