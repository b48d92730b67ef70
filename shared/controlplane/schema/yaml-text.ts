import { parse, type Tags } from 'yaml';
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
