/**
 * What kube-apiserver v1.36 said of rules by what it estimates that they cost, said again by the server under test: the embedded control
 * plane, or a real one. Both take the definitions of the charts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../shared/api/resources.ts';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';

type Try = { readonly maxItems: number; readonly accepted: boolean; readonly messages?: readonly string[] };
type RecordedRule = { readonly name?: string; readonly schema?: object; readonly rule: string; readonly tries: readonly Try[] };
type Recording = { readonly schema?: object; readonly rules: readonly RecordedRule[] };

const FOLDER = path.join(import.meta.dirname, 'cel-costs');
const CHART = path.join(import.meta.dirname, '../../charts/switchyard-manager/files/crds');
const LIMIT_MS = 120_000;
let server: ServerUnderTest;

beforeAll(async () => {
  server = await startServerUnderTest();
}, LIMIT_MS);
afterAll(() => server?.close());

describe.each(readdirSync(FOLDER))('rules of %s', (file) => {
  const { schema, rules } = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Recording;
  test.each(rules.map((each) => ({ ...each, label: each.name ?? each.rule })))('$label', { timeout: LIMIT_MS }, async (recorded) => {
    const found: Try[] = [];
    for (const { maxItems } of recorded.tries) {
      const messages = await refusalOf(
        definitionOf(recorded.schema ?? schema ?? {}, recorded.rule, maxItems, schema === undefined ? '' : 'm'),
      );
      found.push({ maxItems, accepted: messages.length === 0, ...(messages.length === 0 ? {} : { messages }) });
    }
    expect(found).toEqual(recorded.tries);
  });
});

test('the definitions of the charts are taken, and what lends more than it has is refused', { timeout: LIMIT_MS }, async () => {
  for (const file of readdirSync(CHART)) {
    await server.client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(readFileSync(path.join(CHART, file), 'utf8')));
  }
  const lending = (lendingLimit: unknown) => ({
    apiVersion: 'switchyard.dev/v1alpha1',
    kind: 'ClusterQueue',
    metadata: { name: 'lends' },
    spec: {
      cohortName: 'all',
      resourceGroups: [
        { coveredResources: ['cpu'], flavors: [{ name: 'on-demand', resources: [{ name: 'cpu', nominalQuota: 2, lendingLimit }] }] },
      ],
    },
  });
  const create = (lendingLimit: unknown) => server.client.create(CLUSTER_QUEUES, lending(lendingLimit) as never, { dryRun: true });
  await vi.waitFor(() => create(2), { timeout: LIMIT_MS / 2 });
  for (const limit of [3, '3', '2500m']) await expect(create(limit), String(limit)).rejects.toThrow('lendingLimit must not be greater');
  for (const limit of [0, 2, '2', '2000m', '1500m']) await expect(create(limit), String(limit)).resolves.toBeDefined();
});

/** What is said against a definition; nothing of one that is taken. */
async function refusalOf(definition: object): Promise<string[]> {
  try {
    await server.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition as never, { dryRun: true });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.status.details?.causes ?? []).map(({ message = '' }) => message);
  }
}

/** `spec.items` is a list of so many items of a schema, each with the rule. */
const definitionOf = (schema: object, rule: string, maxItems: number, message: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rules.cost.example.com' },
  spec: {
    group: 'cost.example.com',
    scope: 'Namespaced',
    names: { plural: 'rules', singular: 'rule', kind: 'Rule', listKind: 'RuleList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  items: {
                    type: 'array',
                    maxItems,
                    items: { ...schema, 'x-kubernetes-validations': [{ rule, ...(message === '' ? {} : { message }) }] },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});
