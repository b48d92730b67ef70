import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../../../scripts/generate-crds.ts';
import { CRDS } from '../../../support/crds.ts';
import { DEFINITION_COST_MAX, RULE_COST_MAX, ruleCosts } from '../../../support/rule-cost.ts';

const FOLDER = path.join(import.meta.dirname, '../../../../charts/switchyard-manager/files/crds');

test('the CRDs in the chart are those that the types generate', () => {
  const committed = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(path.join(FOLDER, name), 'utf8')]));
  expect(committed, 'run node scripts/generate-crds.ts').toEqual(new Map(crdFiles()));
});

test.each([...crdFiles()])('%s says the same to Helm, which reads YAML 1.1', (_name, text) => {
  expect(parse(text, { version: '1.1' })).toEqual(parse(text));
});

test('tests that make the kinds known without these files say the same', () => {
  expect([...crdFiles().values()].map((text) => parse(text) as object)).toEqual(JSON.parse(JSON.stringify(CRDS)));
});

/** What a structural schema must not contain, and what CEL rules need: the API server would refuse the CRD. */
function problemsOf(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [`${at} is no schema`];
  const { type, properties, items, additionalProperties, anyOf, ...rest } = schema as Record<string, unknown>;
  const problems = ['patternProperties', 'const', '$ref', 'definitions', 'oneOf']
    .filter((word) => word in rest)
    .map((word) => `${at} has ${word}`);
  if (rest['x-kubernetes-int-or-string'] === true) return problems;
  if (typeof type !== 'string' || anyOf !== undefined) problems.push(`${at} has no single type`);
  if (type === 'array' && items === undefined) problems.push(`${at} has no items`);
  for (const [name, each] of Object.entries(properties ?? {})) problems.push(...problemsOf(each, `${at}.${name}`));
  if (items !== undefined) problems.push(...problemsOf(items, `${at}[]`));
  if (additionalProperties !== undefined) problems.push(...problemsOf(additionalProperties, `${at}{}`));
  return problems;
}

test.each([...crdFiles()])('%s has a structural schema', (_name, text) => {
  const { spec } = parse(text) as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } };
  expect(spec.versions.flatMap(({ schema }) => problemsOf(schema.openAPIV3Schema, ''))).toEqual([]);
});

test.each([...crdFiles()])('a kube-apiserver takes the rules of %s: what they may cost is within its limits', (_name, text) => {
  const { spec } = parse(text) as { spec: { versions: { schema: { openAPIV3Schema: object } }[] } };
  const costs = spec.versions.flatMap(({ schema }) => ruleCosts(schema.openAPIV3Schema));
  expect(costs.filter(({ cost }) => cost > RULE_COST_MAX)).toEqual([]);
  expect(costs.reduce((total, { cost }) => total + cost, 0)).toBeLessThan(DEFINITION_COST_MAX);
});

describe('the estimate of what a rule costs', () => {
  const names = (rule: string, parts: object = {}) =>
    ruleCosts({
      type: 'object',
      properties: {
        list: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 25 }, 'x-kubernetes-validations': [{ rule }], ...parts },
      },
    })[0]?.cost;
  test('grows with the lists and texts that a rule goes through', () => {
    expect(names('self.size() < 5')).toBeLessThan(5);
    expect(names("self.all(a, a == 'ten_chars_')")).toBe(1 + 100 * (1 + 1 + 3) + 1);
    expect(names('self.all(a, self.exists(b, a == b))')).toBeGreaterThan(100 * 100 * 10);
  });
  test('is beyond all bounds for a list without one, and unknown for what has not been looked up', () => {
    expect(names('self.all(a, a == a)', { maxItems: undefined })).toBe(Infinity);
    expect(() => names("self.all(a, a.matches('x'))")).toThrow(/the cost of matches\(\) is not known/);
  });
});
