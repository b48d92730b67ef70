import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { CONFIG_FLAG, FlagError, keyOf, shapeOf, type Flag, type FlagTable, type Settings } from './flags.ts';
import { shapeInWords, textOfValue } from './value-shape.ts';

/** What the file of `--config` says. Throws {@link FlagError} that names the file, the key and the remedy. */
export function readConfigFile(flags: FlagTable, file: string): Settings {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new FlagError(`--${CONFIG_FLAG}: ${file} cannot be read (${code}); name a file that is there and readable`, { cause: error });
  }
  return settingsOf(flags, file, text);
}

/** YAML whose keys are the names of flags in camelCase; lists and maps are written as such instead of with commas. */
export function settingsOf(flags: FlagTable, file: string, text: string): Settings {
  const keys = new Map(Object.entries(flags).flatMap(([name, flag]) => (name === CONFIG_FLAG ? [] : [[keyOf(name), { name, flag }]])));
  const texts = Object.entries(mapOf(file, text)).map(([key, value]): [string, string] => {
    const known = keys.get(key);
    if (known === undefined) throw new FlagError(`${file}: ${key} is no key of this file; ${remedy(key, [...keys.keys()])}`);
    return [known.name, textOf(`${file}: ${key}`, key, known.flag, value)];
  });
  return { file, texts: new Map(texts) };
}

function mapOf(file: string, text: string): object {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new FlagError(`${file}: is no YAML: ${error.message.split('\n')[0]}; write lines such as logLevel: debug`);
  const content: unknown = document.toJS();
  if (content === null || content === undefined) return {};
  if (typeof content === 'object' && !Array.isArray(content)) return content;
  throw new FlagError(`${file}: is no map of settings; write lines such as logLevel: debug`);
}

/** A key that differs in its case or by dashes is meant for the one that it resembles. */
function remedy(key: string, known: readonly string[]): string {
  const plain = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();
  const meant = known.find((each) => plain(each) === plain(key));
  return meant === undefined ? 'its keys are the names of flags in camelCase, which --help lists' : `write ${meant}`;
}

/** What stands there is not quoted: it may hold a password. */
function textOf(where: string, key: string, flag: Flag, value: unknown): string {
  const shape = shapeOf(flag);
  const text = textOfValue(value, shape);
  if (text !== undefined) return text;
  const example = flag.value === undefined ? 'true' : (flag.fallback ?? flag.value);
  const hint =
    'type' in shape && shape.type === 'string'
      ? `, in quotes if it looks like something else`
      : example === ''
        ? ''
        : `, such as ${example}`;
  throw new FlagError(`${where}: cannot be used; write ${shapeInWords(shape)}${hint}, or leave ${key} out`);
}
