import { type FieldError, forbidden, invalid, required } from '../apimachinery/field-error.ts';
import { patternProblem } from '../../cel/go-pattern-problem.ts';
import { itemsOf, type JsonSchema, propertyOf, sortedProperties, valuesOf } from './json-schema.ts';

/** Where in a schema a subschema stands, for the wording of a missing type. */
type Level = 'root' | 'item' | 'field';

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** Whether a schema is structural (ValidateStructural of apiextensions): types known everywhere, shape outside of combinations. */
export const validateStructural = (schema: JsonSchema, path: string): FieldError[] =>
  [...validateInvariants(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)].toSorted((a, b) =>
    sentence(a) < sentence(b) ? -1 : 1,
  );

const sentence = ({ field, body }: FieldError): string => `${field}: ${body}`;

function validateInvariants(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  return [
    ...(schema.type === 'array' && items === undefined ? [required(`${path}.items`, 'must be specified')] : []),
    ...(items === undefined ? [] : validateInvariants(items, 'item', `${path}.items`)),
    ...sortedProperties(schema).flatMap(([name, property]) => validateInvariants(property, 'field', `${path}.properties[${name}]`)),
    ...(level === 'root' && schema.additionalProperties !== undefined
      ? [forbidden(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(values === undefined ? [] : validateInvariants(values, 'field', `${path}.additionalProperties`)),
    ...validateExtensions(schema, path),
    ...validateCombinations(schema, level, path),
    ...validatePattern(schema, path),
    ...validateType(schema, level, path),
    ...validateMetadata(schema, level, path),
  ];
}

function validateExtensions(schema: JsonSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  const contradictions = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const;
  return contradictions.flatMap((name) =>
    schema[name] === true ? [invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true')] : [],
  );
}

function validateType(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const type = schema.type ?? '';
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const errors: FieldError[] = [];
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (type === '' && schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    errors.push(required(`${path}.type`, MISSING_TYPE[level]));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(`${path}.type`, type, 'must be object at the root'));
  return errors;
}

function validateMetadata(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const errors: FieldError[] = [];
  if (level === 'root' || embedded) {
    for (const name of ['kind', 'apiVersion']) {
      const property = propertyOf(schema, name);
      if (property !== undefined && property.type !== 'string') {
        errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
      }
    }
    const metadata = propertyOf(schema, 'metadata');
    if (metadata !== undefined) errors.push(...validateMetadataSchema(metadata, level, `${path}.properties[metadata]`));
  }
  if (embedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && Object.keys(schema.properties ?? {}).length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

function validateMetadataSchema(metadata: JsonSchema, level: Level, path: string): FieldError[] {
  const errors = metadata.type === 'object' ? [] : [invalid(`${path}.type`, metadata.type ?? '', 'must be object')];
  if (level !== 'root') return errors;
  const { type: _type, properties = {}, ...rest } = metadata;
  const others = Object.keys(properties).filter((name) => name !== 'name' && name !== 'generateName');
  if (others.length > 0 || Object.keys(rest).length > 0) {
    errors.push(forbidden(path, 'must not specify anything other than name and generateName, but metadata is implicitly specified'));
  }
  return errors;
}

/** `anyOf: [{type: integer}, {type: string}]`, the one place where a combination may name types. */
const isIntOrStringPattern = (schemas: readonly JsonSchema[] | undefined): boolean =>
  schemas?.length === 2 && schemas[0]?.type === 'integer' && schemas[1]?.type === 'string';

function validateCombinations(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  const exempt = intOrString && isIntOrStringPattern(schema.anyOf);
  return combinationsOf(schema).flatMap(({ child, at, kind }) => {
    if (exempt && kind === 'anyOf') return [];
    const skipsAnyOf = intOrString && at === '.allOf[0]' && isIntOrStringPattern(child.anyOf);
    return validateNested(child, skipsAnyOf, level, path + at);
  });
}

function validatePattern({ pattern = '' }: JsonSchema, path: string): FieldError[] {
  const problem = pattern === '' ? undefined : patternProblem(pattern);
  if (problem === undefined) return [];
  return [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
}

type Combination = { readonly child: JsonSchema; readonly at: string; readonly kind: 'allOf' | 'anyOf' | 'oneOf' | 'not' };

const combinationsOf = (schema: JsonSchema): Combination[] => [
  ...(schema.allOf ?? []).map((child, i): Combination => ({ child, at: `.allOf[${i}]`, kind: 'allOf' })),
  ...(schema.anyOf ?? []).map((child, i): Combination => ({ child, at: `.anyOf[${i}]`, kind: 'anyOf' })),
  ...(schema.oneOf ?? []).map((child, i): Combination => ({ child, at: `.oneOf[${i}]`, kind: 'oneOf' })),
  ...(schema.not === undefined ? [] : [{ child: schema.not, at: '.not', kind: 'not' } satisfies Combination]),
];

/** Inside a combination only values may be restricted, never the shape. */
function validateNested(schema: JsonSchema, skipsAnyOf: boolean, level: Level, path: string): FieldError[] {
  const items = itemsOf(schema);
  const empty = 'must be empty to be structural';
  const errors = combinationsOf(schema).flatMap(({ child, at, kind }) =>
    skipsAnyOf && kind === 'anyOf' ? [] : validateNested(child, false, level, path + at),
  );
  errors.push(...validatePattern(schema, path));
  if (items !== undefined) errors.push(...validateNested(items, false, 'item', `${path}.items`));
  for (const [name, property] of sortedProperties(schema)) {
    errors.push(...validateNested(property, false, 'field', `${path}.properties[${name}]`));
  }
  if ((schema.type ?? '') !== '') errors.push(forbidden(`${path}.type`, empty));
  if (schema.additionalProperties !== undefined)
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'));
  if (schema.default !== undefined) errors.push(forbidden(`${path}.default`, 'must be undefined to be structural'));
  if ((schema.title ?? '') !== '') errors.push(forbidden(`${path}.title`, empty));
  if ((schema.description ?? '') !== '') errors.push(forbidden(`${path}.description`, empty));
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, 'must be false to be structural'));
  for (const name of ['preserve-unknown-fields', 'embedded-resource', 'int-or-string'] as const) {
    if (schema[`x-kubernetes-${name}`] === true) errors.push(forbidden(`${path}.x-kubernetes-${name}`, 'must be false to be structural'));
  }
  if (level === 'root' && propertyOf(schema, 'metadata') !== undefined) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return errors;
}

/** Whatever a combination speaks about must be specified outside of it. */
function validateCompleteness(schema: JsonSchema, outer: JsonSchema | undefined, path: string, outerPath: string): FieldError[] {
  const errors: FieldError[] = [];
  const visit = (nested: JsonSchema, main: JsonSchema | undefined, nestedPath: string, mainPath: string): void => {
    for (const { child, at } of combinationsOf(nested)) visit(child, main, nestedPath + at, mainPath);
    const items = itemsOf(nested);
    if (items !== undefined) {
      if (itemsOf(main) === undefined) errors.push(required(`${mainPath}.items`, `because it is defined in ${nestedPath}.items`));
      else visit(items, itemsOf(main), `${nestedPath}.items`, `${mainPath}.items`);
    }
    for (const [name, property] of sortedProperties(nested)) {
      const at = `.properties[${name}]`;
      const counterpart = propertyOf(main, name) ?? valuesOf(main);
      if (counterpart === undefined && main?.['x-kubernetes-preserve-unknown-fields'] !== true) {
        errors.push(required(mainPath + at, `because it is defined in ${nestedPath}${at}`));
      } else visit(property, counterpart, nestedPath + at, mainPath + at);
    }
  };
  for (const { child, at } of combinationsOf(schema)) visit(child, outer, path + at, outerPath);
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  if (items !== undefined) errors.push(...validateCompleteness(items, items, `${path}.items`, `${path}.items`));
  if (values !== undefined)
    errors.push(...validateCompleteness(values, values, `${path}.additionalProperties`, `${path}.additionalProperties`));
  for (const [name, property] of sortedProperties(schema)) {
    errors.push(...validateCompleteness(property, property, `${path}.properties[${name}]`, `${path}.properties[${name}]`));
  }
  return errors;
}
