/** The source files of the project as the house rules look at them: text, code without comments, imports. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.dirname(path.dirname(import.meta.dirname));
const CODE_FOLDERS = ['shared', 'worker', 'manager', 'scripts', 'test'];

export type SourceFile = { readonly name: string; readonly text: string; readonly code: string; readonly imports: readonly Import[] };
/**
 * `target` is a path from the top of the project, or the name of a package. `values` are the names that exist at run time. `atStart` is
 * false for what is loaded when the code comes by, or is only named by its URL.
 */
export type Import = {
  readonly specifier: string;
  readonly target: string;
  readonly values: readonly string[];
  readonly typeOnly: boolean;
  readonly atStart: boolean;
};

export const readSources = (): SourceFile[] =>
  CODE_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.posix.join(folder, name)),
  )
    .filter((name) => /\.(tsx?|mjs)$/.test(name) && !name.includes('/static/'))
    .toSorted()
    .map((name) => {
      const text = readFileSync(path.join(ROOT, name), 'utf8');
      const code = withoutComments(text);
      return { name, text, code, imports: importsOf(name, code) };
    });

/** Source without comments, so that a rule about code does not fire on prose. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');

/** Code without its texts, so that a rule about code does not fire on what is said. */
export const withoutStrings = (code: string): string => code.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "''");

function importsOf(name: string, code: string): Import[] {
  const found: Import[] = [];
  for (const match of code.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta\.url\)/g,
  )) {
    const specifier = match[3] ?? match[4] ?? match[5];
    if (specifier === undefined) continue;
    const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(name), specifier) : specifier;
    const names = match[2]?.trim() ?? '*';
    const values = match[1] === undefined ? namesOf(names).filter((each) => !each.startsWith('type ')) : [];
    const typeOnly = values.length === 0;
    found.push({ specifier, target, values, typeOnly, atStart: !typeOnly && match[3] !== undefined });
  }
  return found;
}

const namesOf = (clause: string): string[] =>
  clause.startsWith('{')
    ? clause
        .slice(1, -1)
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '')
    : [clause];
