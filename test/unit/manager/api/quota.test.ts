import { expect, test } from 'vitest';
import { ResourceGroups } from '../../../../manager/api/quota.ts';
import { compileCel, kubernetesEnvironment } from '../../../../shared/controlplane/cel/environment.ts';

const rules = (ResourceGroups as unknown as { readonly 'x-kubernetes-validations': readonly { rule: string; message: string }[] })[
  'x-kubernetes-validations'
];
const brokenBy = (self: readonly object[]): string[] =>
  rules
    .filter(({ rule }) => {
      const { value, error } = compileCel(kubernetesEnvironment.clone().registerVariable('self', 'dyn'), rule).run({ self });
      if (error !== undefined) throw new Error(`${rule}: ${error}`);
      return value !== true;
    })
    .map(({ message }) => message);
const group = (resource: string, ...flavors: string[]) => ({ coveredResources: [resource], flavors: flavors.map((name) => ({ name })) });
const groups = (count: number) => Array.from({ length: count }, (_, i) => group(`r${i}`, `f${i}`));

test('every pair of groups is looked at for a flavor in both', () => {
  for (let later = 1; later < 16; later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      const twice = groups(16).with(later, group(`r${later}`, 'new', `f${earlier}`));
      expect(brokenBy(twice)).toEqual([`a flavor of group ${later} is in a group before it, too; name each flavor in one group only`]);
    }
  }
  expect(brokenBy(groups(16))).toEqual([]);
  expect(brokenBy([])).toEqual([]);
});

/**
 * What a kube-apiserver estimates of a rule before it takes a definition that has it: of names of 253 characters at up to four bytes each one
 * comparison costs 102, with the selections around it 111. It allows a rule 10 million, and a definition 100 million.
 */
test('no rule about flavors costs more than an API server allows, at the greatest lists there may be', () => {
  const comparisons = rules.map(({ rule }) => (rule.match(/\.flavors\.exists\(/g) ?? []).length * 64 * 64);
  expect(Math.max(...comparisons) * 111).toBeLessThan(10_000_000);
  expect(comparisons.reduce((sum, each) => sum + each, 0) * 111).toBeLessThan(60_000_000);
});

test('no rule computes a list, of which an API server could not tell the size', () => {
  expect(rules.filter(({ rule }) => /\.(map|filter|flatten|sum)\(/.test(rule))).toEqual([]);
});
