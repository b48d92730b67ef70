/** Goal: each field of each kind is described, to `kubectl explain` and on the page, and the page says what the schemas say. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { objectSchema } from '../../../manager/api/kind-definition.ts';
import { SWITCHYARD_KINDS } from '../../../manager/api/kinds.ts';
import { kindsReference } from '../../../scripts/generate-kinds-reference.ts';

const PAGE = path.join(import.meta.dirname, '..', '..', '..', 'docs', 'kinds-reference.md');

test('docs/kinds-reference.md is what the schemas say', () => {
  expect(readFileSync(PAGE, 'utf8'), 'run node scripts/generate-kinds-reference.ts').toBe(kindsReference());
});

type Schema = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
};

/** The paths of all fields, and of those without a description. */
function fieldsOf(schema: Schema, at: string): { readonly path: string; readonly isDescribed: boolean }[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      { path: `${at}${name}`, isDescribed: (field.description ?? '') !== '' },
      ...fieldsOf(field, `${at}${name}.`),
    ]),
    ...(items === undefined ? [] : fieldsOf(items, `${at.slice(0, -1)}[].`)),
    ...(typeof additionalProperties === 'object' ? fieldsOf(additionalProperties, `${at}KEY.`) : []),
  ];
}

const sectionOf = (kind: string): string => kindsReference().split(`\n## ${kind}\n`)[1]?.split('\n## ')[0] ?? '';

/** Whether the field has a row, or the row of an object around it says which other object lists its fields, and that has one. */
function hasRow(kind: string, field: string): boolean {
  const section = sectionOf(kind);
  if (section.includes(`\`${field}\``)) return true;
  const references = [...section.matchAll(/^- \**`([^`]+)`.* As `([^`]+)` of (\w+)\.$/gm)];
  return references.some(([, above = '', listed = '', other = '']) => {
    const below = field.slice(above.length);
    return field.startsWith(above) && /^(\[\])?\./.test(below) && sectionOf(other).includes(`\`${listed}${below}\``);
  });
}

test.each(SWITCHYARD_KINDS.map((kind) => [kind.resource.kind, kind] as const))(
  'every field of %s has a description, and a row',
  (name, kind) => {
    const fields = fieldsOf(objectSchema(kind) as Schema, '');
    // The API server describes metadata.
    expect(fields.filter(({ isDescribed, path: each }) => !isDescribed && each !== 'metadata').map(({ path: each }) => each)).toEqual([]);
    const ofAll = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
    expect(fields.map(({ path: each }) => each).filter((each) => !ofAll.includes(each) && !hasRow(name, each))).toEqual([]);
  },
);
