import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../../../scripts/generate-crds.ts';
import { CRDS } from '../../../support/crds.ts';
import { RULE_COST_MAX } from '../../../../shared/controlplane/crd/cost-limits.ts';
import { SCHEMA_COST_MAX } from '../../../../shared/controlplane/crd/cost-total.ts';
import type { JsonSchema } from '../../../../shared/controlplane/crd/json-schema.ts';
import { estimatedCosts } from '../../../../shared/controlplane/crd/schema-validation.ts';

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

/** API servers of other versions may reckon a little differently. */
const MARGIN = 3;

test.each([...crdFiles()])('a kube-apiserver takes the rules of %s: what they may cost is far within its limits', (_name, text) => {
  const { spec } = parse(text) as { spec: { versions: { schema: { openAPIV3Schema: JsonSchema } }[] } };
  const costs = spec.versions.flatMap(({ schema }) => estimatedCosts(schema.openAPIV3Schema));
  expect(costs.filter(({ cost }) => cost * MARGIN > RULE_COST_MAX)).toEqual([]);
  expect(costs.reduce((total, { cost }) => total + cost, 0) * MARGIN).toBeLessThan(SCHEMA_COST_MAX);
});
