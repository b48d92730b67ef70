import { describe, expect, test } from 'vitest';
import { isInQuotaScope, scopesOf } from '../../../../../shared/controlplane/admission/quota-scopes.ts';
import type { DecodedPodSpec } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { asQuota } from '../../../../../shared/controlplane/kinds/resource-quota.ts';
import { anObject } from '../a-served-resource.ts';

const isIn = (scopeName: string, spec: DecodedPodSpec, operator = 'Exists', values: string[] = []) =>
  isInQuotaScope({ scopeName, operator, values }, spec);
const asking: DecodedPodSpec = { containers: [{ resources: { requests: { cpu: '1' } } }] };
const elsewhere = (term: object): DecodedPodSpec => ({
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } },
});

test('the scopes of a quota are those it lists and those it selects by', () => {
  const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }, {}];
  expect(scopesOf(asQuota(anObject('q', { spec: { scopes: ['BestEffort'], scopeSelector: { matchExpressions } } })))).toEqual([
    { scopeName: 'BestEffort', operator: 'Exists', values: [] },
    { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
    { scopeName: '', operator: '', values: [] },
  ]);
  expect(scopesOf(asQuota(anObject('q')))).toEqual([]);
});

describe('a pod', () => {
  test.each<[string, DecodedPodSpec, boolean]>([
    ['BestEffort', {}, true],
    ['BestEffort', asking, false],
    ['NotBestEffort', asking, true],
    ['NotBestEffort', {}, false],
    ['Terminating', { activeDeadlineSeconds: 0 }, true],
    ['Terminating', {}, false],
    ['NotTerminating', {}, true],
    ['NotTerminating', { activeDeadlineSeconds: 5 }, false],
    ['CrossNamespacePodAffinity', {}, false],
    ['CrossNamespacePodAffinity', elsewhere({ namespaces: ['other'] }), true],
    ['CrossNamespacePodAffinity', elsewhere({ namespaceSelector: {} }), true],
    ['CrossNamespacePodAffinity', elsewhere({ topologyKey: 'zone' }), false],
    [
      'CrossNamespacePodAffinity',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'] }] } } },
      true,
    ],
    ['VolumeAttributesClass', {}, false],
    ['constructor', {}, false],
  ])('is in the scope %s: %j: %s', (scope, spec, inside) => {
    expect(isIn(scope, spec)).toBe(inside);
  });

  test.each<[string, string[], string | undefined, boolean]>([
    ['In', ['high'], 'high', true],
    ['In', ['high'], 'low', false],
    ['In', ['high'], undefined, false],
    ['NotIn', ['high'], 'low', true],
    ['NotIn', ['high'], undefined, true],
    ['Exists', [], 'low', true],
    ['Exists', [], '', false],
    ['DoesNotExist', [], undefined, true],
    ['Near', ['high'], 'high', false],
  ])('of a class that is %s %j: %j: %s', (operator, values, priorityClassName, inside) => {
    expect(isIn('PriorityClass', { priorityClassName }, operator, values)).toBe(inside);
  });
});
