import { expect, test } from 'vitest';
import { ResourceGroups } from '../../../../manager/api/quota.ts';
import { compileCel, kubernetesEnvironment } from '../../../../shared/cel/environment.ts';

const rules = (ResourceGroups as unknown as { readonly 'x-kubernetes-validations': readonly { rule: string; message: string }[] })[
  'x-kubernetes-validations'
];
const environment = kubernetesEnvironment.clone().registerVariable('self', 'dyn');
const compiled = rules.map(({ rule, message }) => ({ rule, message, program: compileCel(environment, rule) }));
const brokenBy = (self: readonly object[]): string[] =>
  compiled
    .filter(({ rule, program }) => {
      const { value, error } = program.run({ self });
      if (error !== undefined) throw new Error(`${rule}: ${error}`);
      return value !== true;
    })
    .map(({ message }) => message);
const group = (resource: string, ...flavors: string[]) => ({
  coveredResources: [resource],
  flavors: flavors.map((name) => ({ name, resources: [{ name: resource }] })),
});
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

test('in every group a flavor has quota for exactly the covered resources', () => {
  for (let at = 0; at < 16; at++) {
    const [more, fewer] = [[`r${at}`, 'other'], []].map((names) => ({
      coveredResources: [`r${at}`],
      flavors: [{ name: `f${at}`, resources: names.map((name) => ({ name })) }],
    }));
    const other = { coveredResources: [`r${at}`], flavors: [{ name: `f${at}`, resources: [{ name: 'other' }] }] };
    for (const wrong of [more, fewer, other]) {
      expect(brokenBy(groups(16).with(at, wrong as never))).toEqual(['every flavor must give quota for exactly the coveredResources']);
    }
  }
});
