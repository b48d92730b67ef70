import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SWITCHYARD_KINDS } from '../../../../../manager/api/kinds.ts';
import type { FieldSchema } from '../../../../../manager/cli/import-kueue/carry.ts';
import {
  MISSING_FIELDS,
  missingField,
  specInNewWords,
  withoutDispatchChecks,
} from '../../../../../manager/cli/import-kueue/kueue-fields.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../../../docs/from-kueue.md');
const rows = Object.entries(MISSING_FIELDS).flatMap(([kind, fields]) => fields.map((field) => ({ kind, ...field })));

function isField(kind: string, fieldPath: string): boolean {
  const definition = SWITCHYARD_KINDS.find(({ resource }) => resource.kind === kind);
  let schema: FieldSchema | undefined = { properties: definition?.fields as Readonly<Record<string, FieldSchema>> };
  for (const name of fieldPath.split('.')) schema = schema?.properties?.[name] ?? schema?.items?.properties?.[name];
  return schema !== undefined;
}

test.each(rows)(
  '$path of a $kind is no field of ours (else it is carried over: take the row out, and out of docs/from-kueue.md)',
  (row) => {
    expect(isField('ClusterQueue', 'spec.resourceGroups.flavors.name')).toBe(true);
    expect(isField(row.kind, row.path)).toBe(false);
  },
);

test('what is missing stands in the documentation', () => {
  const text = readFileSync(DOCUMENT, 'utf8');
  for (const { kind, path: field, means } of rows) expect(text, `${kind} ${field}`).toContain(`| ${kind} | \`${field}\` | ${means} |`);
});

describe('what asks for nothing', () => {
  const asks = (kind: string, field: string, value: unknown): boolean => missingField(kind, field)?.asksNothing?.(value) !== true;
  test.each<[string, string, unknown, boolean]>([
    ['ClusterQueue', 'spec.concurrentAdmissionPolicy', {}, true],
    ['ResourceFlavor', 'spec.topologyName', 'racks', true],
  ])('%s %s: %j asks for something: %s', (kind, field, value, something) => {
    expect(asks(kind, field, value)).toBe(something);
  });
});

test('a spec of v1beta1 is said in the words of v1beta2', () => {
  expect(
    specInNewWords('ClusterQueue', {
      cohort: 'all',
      stopPolicy: 'Hold',
      admissionChecks: ['a'],
      flavorFungibility: { whenCanBorrow: 'Borrow', whenCanPreempt: 'Preempt' },
    }),
  ).toEqual({
    cohortName: 'all',
    stopPolicy: 'Hold',
    admissionChecksStrategy: { admissionChecks: [{ name: 'a' }] },
    flavorFungibility: { whenCanBorrow: 'MayStopSearch', whenCanPreempt: 'MayStopSearch' },
  });
  expect(specInNewWords('ClusterQueue', { flavorFungibility: { whenCanBorrow: 'TryNextFlavor' } })).toEqual({
    flavorFungibility: { whenCanBorrow: 'TryNextFlavor' },
  });
  expect(specInNewWords('LocalQueue', { cohort: 'x' })).toEqual({ cohort: 'x' });
});

test('of the checks of a queue those that only dispatch are left out', () => {
  const spec = (...names: string[]) => ({
    stopPolicy: 'Hold',
    admissionChecksStrategy: { admissionChecks: names.map((name) => ({ name })) },
  });
  const dispatching = new Set(['remote']);
  expect(withoutDispatchChecks(spec('remote', 'budget'), dispatching)).toEqual(spec('budget'));
  expect(withoutDispatchChecks(spec('remote'), dispatching)).toEqual({ stopPolicy: 'Hold' });
  const oddChecks = { admissionChecksStrategy: { admissionChecks: [null, 'remote', 7] } };
  for (const odd of [{}, { admissionChecksStrategy: 'x' }, { admissionChecksStrategy: { admissionChecks: 1 } }, oddChecks])
    expect(withoutDispatchChecks(odd, dispatching)).toEqual(odd);
});
