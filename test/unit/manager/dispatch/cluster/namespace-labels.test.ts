import { expect, test } from 'vitest';
import { chosenLabels, DEFAULT_NAMESPACE_LABELS } from '../../../../../manager/dispatch/cluster/namespace-labels.ts';

const labels = {
  'kubernetes.io/metadata.name': 'team',
  'pod-security.kubernetes.io/enforce': 'restricted',
  'pod-security.kubernetes.io/enforce-version': 'latest',
  'pod-security.kubernetes.io.example.com/enforce': 'no',
  'cost-center': '17',
  'cost-center-owner': 'ada',
};

test('pod security goes along unless something else is chosen', () => {
  expect(Object.keys(chosenLabels(labels, DEFAULT_NAMESPACE_LABELS))).toEqual([
    'pod-security.kubernetes.io/enforce',
    'pod-security.kubernetes.io/enforce-version',
  ]);
});

test('a key chooses one label, a prefix with a star all labels of that very prefix, and nothing chooses nothing', () => {
  expect(chosenLabels(labels, ['cost-center'])).toEqual({ 'cost-center': '17' });
  expect(chosenLabels(labels, ['pod-security.kubernetes.io.example.com/*', 'absent'])).toEqual({
    'pod-security.kubernetes.io.example.com/enforce': 'no',
  });
  expect(chosenLabels(labels, [])).toEqual({});
});
