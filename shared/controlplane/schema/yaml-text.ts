import { isMap, isNode, isScalar, isSeq, LineCounter, parse, parseDocument, type Tags } from 'yaml';
import { isTooDeep } from './json-text.ts';
import { isJsonObject, type JsonObject, setField } from '../apimachinery/json.ts';

/** A text that is no YAML. */
export class YamlSyntaxError extends Error {
  constructor(cause: Error) {
    super(`error converting YAML to JSON: yaml: ${cause.message.split('\n')[0] ?? ''}`, { cause });
    this.name = 'YamlSyntaxError';
  }
}

/**
 * One YAML document as JSON, read as sigs.k8s.io/yaml reads it: YAML 1.1 with its yes and no, but without dates,
 * base-60 numbers and binary. JSON is YAML too, and the common case.
 */
export function parseYaml(text: string): unknown {
  if (text.trimStart().startsWith('{')) {
    if (isTooDeep(text)) throw new YamlSyntaxError(new Error('exceeded max depth'));
    try {
      return JSON.parse(text);
    } catch {
      // A flow mapping that is not JSON: the YAML parser below reads it, or says what is wrong.
    }
  }
  try {
    return withStringKeys(parse(text, { version: '1.1', uniqueKeys: false, logLevel: 'error', customTags: withoutExoticTags }));
  } catch (error) {
    if (error instanceof Error) throw new YamlSyntaxError(error);
    throw error;
  }
}

const EXOTIC = ['timestamp', 'binary', 'omap', 'pairs', 'set'];

const withoutExoticTags = (tags: Tags): Tags =>
  tags.filter((tag) => {
    if (typeof tag === 'string') return !EXOTIC.includes(tag);
    const isBase60 = 'format' in tag && tag.format === 'TIME';
    return !isBase60 && !EXOTIC.some((name) => tag.tag.endsWith(`:${name}`));
  });

/** Keys such as `1` or `true` are strings in JSON. */
function withStringKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withStringKeys(item));
  if (!isJsonObject(value)) return value ?? null;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setField(copy, key, withStringKeys(value[key]));
  return copy;
}

/** `line 3: key "a" already set in map` for every key that its mapping has had before, as go-yaml finds them. */
export function repeatedYamlKeys(text: string): string[] {
  const lines = new LineCounter();
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (isSeq(node)) for (const item of node.items) visit(item);
    if (!isMap(node)) return;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      visit(value);
      const name = isScalar(key) ? String(key.value) : '';
      if (!seen.has(name)) {
        seen.add(name);
        continue;
      }
      const start = isNode(value) ? (value.range?.[0] ?? 0) : 0;
      found.push(`line ${lines.linePos(start).line}: key ${JSON.stringify(name)} already set in map`);
    }
  };
  visit(parseDocument(text, { version: '1.1', uniqueKeys: false, logLevel: 'error', lineCounter: lines }).contents);
  return found;
}

/** The same as one error. */
export const yamlKeysError = (repeated: readonly string[]): string =>
  ['error converting YAML to JSON: yaml: unmarshal errors:', ...repeated.map((line) => `  ${line}`)].join('\n');
