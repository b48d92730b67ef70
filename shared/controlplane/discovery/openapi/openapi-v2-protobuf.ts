import { isJsonObject } from '../../apimachinery/json.ts';
import type { Json } from './openapi-schemas.ts';
import { boolField, type Encoded, message, messageField, repeated, stringField } from './protobuf.ts';

/**
 * A Swagger document as gnostic's openapi_v2.Document, the only form in which clients of 1.28 and older take it.
 * Field numbers are those of OpenAPIv2.proto; keywords that our documents do not use are left out.
 */
export function encodeSwagger(document: Json): Uint8Array {
  const info = objectOf(document.info);
  return message(
    stringField(1, document.swagger),
    messageField(2, message(stringField(1, info.title), stringField(2, info.version))),
    messageField(8, repeated(entries(document.paths).map(([path, item]) => messageField(2, named(path, pathItem(item)))))),
    messageField(9, repeated(entries(document.definitions).map(([name, each]) => messageField(1, named(name, schema(each)))))),
  );
}

const objectOf = (value: unknown): Json => (isJsonObject(value) ? value : {});
const entries = (value: unknown): [string, Json][] => Object.entries(objectOf(value)).map(([key, each]) => [key, objectOf(each)]);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const named = (name: string, value: Encoded): Encoded => message(stringField(1, name), messageField(2, value));

const PATH_METHODS: readonly (readonly [string, number])[] = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['patch', 8],
];

const pathItem = (item: Json): Encoded =>
  message(
    ...PATH_METHODS.map(([method, field]) =>
      item[method] === undefined ? undefined : messageField(field, operation(objectOf(item[method]))),
    ),
    ...listOf(item.parameters).map((each) => messageField(9, parameter(objectOf(each)))),
  );

const operation = (of: Json): Encoded =>
  message(
    stringField(5, of.operationId),
    ...listOf(of.parameters).map((each) => messageField(8, parameter(objectOf(each)))),
    messageField(
      9,
      message(messageField(1, message(stringField(1, '200'), messageField(2, message(messageField(1, message(stringField(1, 'OK')))))))),
    ),
    ...extensions(of, 13),
  );

/** A ParametersItem: a query or path parameter. */
function parameter(of: Json): Encoded {
  const inPath = of.in === 'path';
  const schemaOf = objectOf(of.schema);
  const type = stringField(inPath ? 5 : 6, schemaOf.type);
  const nonBody = message(boolField(1, inPath), stringField(2, of.in), stringField(4, of.name), type);
  return message(messageField(1, message(messageField(2, message(messageField(inPath ? 4 : 3, nonBody))))));
}

function schema(of: Json): Encoded {
  const additional = of.additionalProperties;
  return message(
    stringField(1, of.$ref),
    stringField(2, of.format),
    stringField(4, of.description),
    ...listOf(of.required).map((name) => stringField(19, name)),
    isJsonObject(additional) ? messageField(21, message(messageField(1, schema(additional)))) : undefined,
    of.type === undefined ? undefined : messageField(22, message(stringField(1, of.type))),
    isJsonObject(of.items) ? messageField(23, message(messageField(1, schema(of.items)))) : undefined,
    ...listOf(of.allOf).map((each) => messageField(24, schema(objectOf(each)))),
    isJsonObject(of.properties)
      ? messageField(25, repeated(entries(of.properties).map(([name, each]) => messageField(1, named(name, schema(each))))))
      : undefined,
    ...extensions(of, 31),
  );
}

/** Vendor extensions travel as YAML text, and JSON is YAML. */
const extensions = (of: Json, field: number): (Encoded | undefined)[] =>
  Object.keys(of)
    .filter((key) => key.startsWith('x-'))
    .map((key) => messageField(field, named(key, message(stringField(2, JSON.stringify(of[key]))))));
