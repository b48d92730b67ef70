import { type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';

/** A path into a schema that leads somewhere, as messages write it; or what is wrong with it, in upstream's words. */
export type FieldPath = { readonly path: string; readonly schema: JsonSchema | undefined } | { readonly problem: string };

/**
 * Reads `.a.b` or `.a['b']`, where every step is a property or a key of a map; lists cannot be entered (ValidFieldPath of
 * apiextensions).
 */
export function readFieldPath(text: string, root: JsonSchema, { brackets }: { readonly brackets: boolean }): FieldPath {
  const tokens = tokensOf(text);
  let schema: JsonSchema | undefined = root;
  let path = '';
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (token !== '.' && token !== '[') return { problem: `expected [ or . but got: ${token}` };
    if (token === '[' && !brackets) return { problem: 'array notation is not allowed' };
    const next = tokens[++i];
    if (next === undefined) return { problem: 'unexpected end of JSON path' };
    if (token === '[' && !/^'.*'$/s.test(next)) return { problem: `expected single quoted string but got ${next}` };
    const name: string = token === '[' ? next.slice(1, -1).replaceAll(/\\(.)/g, '$1') : next;
    const isNamed: boolean = schema?.properties !== undefined;
    if (!isNamed && schema?.additionalProperties === undefined) return { problem: 'does not refer to a valid field' };
    schema = isNamed ? propertyOf(schema, name) : valuesOf(schema);
    if (isNamed && schema === undefined) return { problem: 'does not refer to a valid field' };
    path += isNamed ? `${path === '' ? '' : '.'}${name}` : `[${name}]`;
    if (token === '.') continue;
    const end = tokens[++i];
    if (end === undefined) return { problem: 'unexpected end of JSON path' };
    if (end !== ']') return { problem: `expected ] but got ${end}` };
  }
  return { path, schema };
}

/** Dots and brackets stand for themselves, also at the end; a quoted string is one token whatever is in it. */
const tokensOf = (text: string): string[] => text.match(/'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]]+/gs) ?? [];
