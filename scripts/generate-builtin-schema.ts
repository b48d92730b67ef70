/**
 * Writes shared/controlplane/schema/builtin.json and builtin-descriptions.json from the models of @kubernetes/client-node
 * and the facts of builtin-schema-facts.ts. Run it when the client library or the facts change:
 *
 *   node scripts/generate-builtin-schema.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ALWAYS_EMITTED,
  ATOMIC_MAPS,
  ATOMIC_TYPES,
  EMPTY_MAPS_KEPT,
  LIST_FACTS,
  OBJECT_PATCH_STRATEGIES,
  POINTER_STRINGS,
  OBJECTS_IN_ANY,
  QUANTITIES,
  QUANTITY_MAPS,
  REQUIRED_POINTERS,
  ROOT_KINDS,
  VALUE_SCALARS,
} from './builtin-schema-facts.ts';
import type { BuiltInField, BuiltInTable, BuiltInType } from '../shared/controlplane/schema/builtin-table.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';

type Attribute = { readonly baseName: string; readonly type: string; readonly format: string };
type Declaration = { readonly description: string; readonly fields: ReadonlyMap<string, { required: boolean; description: string }> };
/** Model name to its description and those of its fields. */
type Descriptions = Record<string, { description: string; fields: Record<string, string> }>;

const models = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen/models');
const target = join(import.meta.dirname, '../shared/controlplane/schema');

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  IntOrString: 'int-or-string',
  any: 'any',
  object: 'any',
};

/** Go's name of a model: without its version, but with the group where two groups have the name. */
const goName = (model: string): string =>
  model
    .replace(/^(CoreV1|EventsV1)(?=Event)/, '$1')
    .replace(
      /^(?:V1|CoreV1(?!Event)|RbacV1|AuthenticationV1|DiscoveryV1|AdmissionregistrationV1|ApiextensionsV1|FlowcontrolV1|StorageV1)/,
      '',
    );

async function attributesOf(model: string): Promise<readonly Attribute[]> {
  const module: Record<string, { getAttributeTypeMap(): readonly Attribute[] }> = await import(
    pathToFileURL(join(models, `${model}.js`)).href
  );
  const found = module[model];
  if (found === undefined) throw new Error(`model ${model} is not in its file`);
  return found.getAttributeTypeMap();
}

function declarationOf(model: string): Declaration {
  const text = readFileSync(join(models, `${model}.d.ts`), 'utf8');
  const comment = String.raw`/\*\*\s*\n((?:\s*\* (?!\/).*\n)+)\s*\*/\s*\n`;
  const ofClass = new RegExp(`${comment}export declare class`).exec(text);
  const fields = new Map<string, { required: boolean; description: string }>();
  for (const [, prose, name, optional] of text.matchAll(new RegExp(String.raw`(?:${comment})?\s*'([^']+)'(\?)?:`, 'g'))) {
    if (name !== undefined) fields.set(name, { required: optional === undefined, description: plain(prose ?? '') });
  }
  return { description: plain(ofClass?.[1] ?? ''), fields };
}

const plain = (comment: string): string =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
    .replaceAll("\\'", "'")
    .replaceAll('\\"', '"');

/** `V1Pod`, `[]V1Container`, `map[]string`: the type of a field in the table. */
function typeOf(attribute: Attribute, path: string): string {
  const list = /^(?:Array|Set)<(.+)>$/.exec(attribute.type);
  if (list?.[1] !== undefined) return `[]${typeOf({ ...attribute, type: list[1] }, path)}`;
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(attribute.type);
  if (map?.[1] !== undefined) return QUANTITY_MAPS.has(path) ? 'map[]quantity' : `map[]${typeOf({ ...attribute, type: map[1] }, path)}`;
  if (QUANTITIES.has(path)) return 'quantity';
  const objects = OBJECTS_IN_ANY.get(path);
  if (objects !== undefined) return `any:${objects}`;
  if (attribute.type === 'number') return attribute.format === '' ? 'int64' : attribute.format;
  if (attribute.format === 'byte') return 'bytes';
  if (attribute.format === 'int-or-string') return 'int-or-string';
  if (attribute.format === 'date-time' || attribute.type === 'Date') return 'time';
  if (attribute.format === 'date-time-micro' || attribute.type === 'V1MicroTime') return 'micro-time';
  return SCALARS[attribute.type] ?? attribute.type;
}

const isModel = (type: string): boolean => /^[A-Z]/.test(type);
const elementOf = (type: string): string => type.replace(/^(\[\]|map\[\])+/, '');

function emitOf(type: string, path: string, required: boolean, isKind: boolean): BuiltInField['emit'] {
  const field = path.split('.')[1] ?? '';
  if (isKind && ['metadata', 'spec', 'status'].includes(field) && isModel(type)) return 'always';
  if (isKind && ['apiVersion', 'kind'].includes(field)) return 'omit-empty';
  if (required || ALWAYS_EMITTED.has(path)) return 'always';
  if (EMPTY_MAPS_KEPT.has(path)) return 'pointer';
  if (type.startsWith('[]') || type.startsWith('map[]') || type === 'bytes') return 'omit-empty';
  if (type === 'string') return POINTER_STRINGS.has(path) ? 'pointer' : 'omit-empty';
  return VALUE_SCALARS.has(path) ? 'omit-empty' : 'pointer';
}

function fieldOf(attribute: Attribute, owner: string, declaration: Declaration, isKind: boolean): BuiltInField {
  const path = `${owner}.${attribute.baseName}`;
  const declared =
    declaration.fields.get(attribute.baseName) ?? declaration.fields.get(attribute.baseName.replace(/^\$?/, '').replaceAll('-', '_'));
  const required = declared?.required ?? false;
  const type = typeOf(attribute, path);
  const list = LIST_FACTS.get(path);
  const strategy = list?.patch ?? OBJECT_PATCH_STRATEGIES.get(path);
  return {
    type,
    emit: emitOf(type, path, required, isKind),
    ...(required ? { required } : {}),
    ...(REQUIRED_POINTERS.has(path) ? { nullable: true } : {}),
    ...(ATOMIC_MAPS.has(path) ? { atomic: true } : {}),
    ...(list === undefined || list.listType === 'atomic' ? {} : { listType: list.listType }),
    ...omitUndefined({ keys: list?.keys, keyDefaults: list?.keyDefaults, patch: strategy, mergeKey: list?.mergeKey }),
  };
}

const table: BuiltInTable = { kinds: [...ROOT_KINDS], types: {} };
const descriptions: Descriptions = {};
const waiting = ROOT_KINDS.map(([model]) => model);
for (let model = waiting.pop(); model !== undefined; model = waiting.pop()) {
  if (table.types[model] !== undefined) continue;
  const name = goName(model);
  const declaration = declarationOf(model);
  const attributes = await attributesOf(model);
  const isKind = ['apiVersion', 'kind'].every((field) => attributes.some(({ baseName }) => baseName === field));
  const fields: Record<string, BuiltInField> = {};
  for (const attribute of attributes) {
    const field = fieldOf(attribute, name, declaration, isKind && attributes.some(({ baseName }) => baseName === 'metadata'));
    fields[attribute.baseName] = field;
    if (isModel(elementOf(field.type))) waiting.push(elementOf(field.type));
  }
  const type: BuiltInType = {
    name: name.replace(/^(Core|Events)V1(?=Event)/, ''),
    fields,
    ...(ATOMIC_TYPES.has(name) ? { atomic: true } : {}),
  };
  table.types[model] = type;
  const prose = Object.fromEntries(attributes.map(({ baseName }) => [baseName, declaration.fields.get(baseName)?.description ?? '']));
  descriptions[model] = { description: declaration.description, fields: prose };
}

const write = (file: string, value: unknown): void => writeFileSync(join(target, file), `${JSON.stringify(value)}\n`);
write('builtin.json', table);
write('builtin-descriptions.json', descriptions);
