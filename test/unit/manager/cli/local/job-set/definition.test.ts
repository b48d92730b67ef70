import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { JOB_SET_DEFINITION, JOB_SETS } from '../../../../../../manager/cli/local/job-set/definition.ts';
import { shippedKind } from '../../../work-kind/described/described.ts';

const ROOT = path.join(import.meta.dirname, '../../../../../..');
const { spec, status } = JOB_SET_DEFINITION.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {};

test('it defines the resource that the WorkKind of the chart describes', () => {
  const { group, version, plural, kind } = shippedKind('JobSet').resource;
  expect(JOB_SETS).toMatchObject({ group, version, plural, kind });
  expect(JOB_SET_DEFINITION.metadata.name).toBe(`${plural}.${group}`);
});

test('it knows the fields of the example, and those of a status that the WorkKind reads', () => {
  const example = parse(readFileSync(path.join(ROOT, 'examples/jobset.yaml'), 'utf8')) as { readonly spec: object };
  expect(Object.keys(spec?.properties ?? {})).toEqual(expect.arrayContaining(Object.keys(example.spec)));
  expect(Object.keys(status?.properties ?? {})).toEqual(['conditions', 'replicatedJobsStatus', 'terminalState']);
  const counts = status?.properties.replicatedJobsStatus;
  expect(JSON.stringify(counts)).toContain('"x-kubernetes-list-map-keys":["name"]');
  for (const field of ['active', 'failed', 'ready', 'succeeded', 'suspended']) expect(JSON.stringify(counts)).toContain(`"${field}":`);
});
