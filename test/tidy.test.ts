/** The house rules of CONTRIBUTING.md, as a test: what a reader may rely on in every file. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EQUIVALENTS } from './mutation/equivalents.ts';
import { readSources, withoutStrings, type SourceFile } from './support/source-files.ts';

const ROOT = path.join(import.meta.dirname, '..');
const PRODUCT_FOLDERS = ['shared/', 'worker/', 'manager/'];

const sources = readSources();
const product = sources.filter((file) => PRODUCT_FOLDERS.some((folder) => file.name.startsWith(folder)));
/** Components of the page are drawn, and keep what a page keeps: tests in a browser look at them. */
const isDrawn = ({ name }: SourceFile): boolean => name.endsWith('.tsx');

const offences = (files: readonly SourceFile[], find: (file: SourceFile) => string | undefined): string[] =>
  files.flatMap((file) => {
    const offence = find(file);
    return offence === undefined ? [] : [`${file.name}: ${offence}`];
  });

/** The paths of tests that scripts/run.mjs names from this suite on. */
function testsNamedFrom(suite: 'test-operations' | 'test-real'): readonly string[] {
  const programs = readFileSync(path.join(ROOT, 'scripts', 'run.mjs'), 'utf8');
  const suites = programs.split(`'${suite}': {`)[1]?.split('worker: {')[0] ?? '';
  return [...suites.matchAll(/'(test\/[^']+)'/g)].map(([, named = '']) => named);
}

describe('every file', () => {
  test('time and chance come in as arguments', () => {
    // The client runs in programs of users, who have no clock for it.
    const allowed = /^shared\/(runtime|client)\/|\/(main|config)\.ts$|^manager\/cli\//;
    expect(
      offences(
        product.filter((file) => !isDrawn(file) && !allowed.test(file.name)),
        ({ code }) => /\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('environment and flags are read in config files and programs alone', () => {
    const allowed = /\/(main|config)\.ts$|^manager\/certificates\.ts$|^manager\/cli\/|^shared\/runtime\/|^shared\/kube\/kubeconfig\.ts$/;
    expect(
      offences(
        product.filter((file) => !isDrawn(file) && !allowed.test(file.name)),
        ({ code }) => /process\.(env|argv)/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no module holds mutable state', () => {
    expect(
      offences(
        product.filter((file) => !isDrawn(file)),
        ({ code }) =>
          /^(export )?let .*$/m.exec(code)?.[0] ??
          /^(export )?const \w+(: (?:Map|Set|WeakMap|WeakSet)<[^=]+)? = new (Map|Set|WeakMap|WeakSet|Array)\(\);?$/m.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no product file is imported by nobody', () => {
    const entryPoints = /\/main\.tsx?$|^manager\/certificates\.ts$|^manager\/cli\/(local|import-kueue|explain)\.ts$/;
    const imported = new Set(sources.flatMap(({ imports }) => imports.map(({ target }) => target)));
    expect(product.filter(({ name }) => !entryPoints.test(name) && !imported.has(name)).map(({ name }) => name)).toEqual([]);
  });

  test('no drawer is called utils or helpers, and no barrel re-exports a folder', () => {
    expect(
      offences(sources, ({ name }) =>
        /(^|[/-])(utils?|helpers?|common|misc)\.(ts|mjs)$|\/index\.(ts|mjs)$/.test(name) ? 'name the idea it holds' : undefined,
      ),
    ).toEqual([]);
    expect(offences(product, ({ code }) => /^export \* from .*$/m.exec(code)?.[0])).toEqual([]);
  });

  test('no line of a comment is longer than 140 columns', () => {
    const isLong = (line: string): boolean => line.length > 140 && /^\s*(?:\/\/|\/?\*)/.test(line);
    expect(offences(sources, ({ text }) => text.split('\n').find(isLong))).toEqual([]);
  });

  test('no file is longer than 500 lines', () => {
    expect(
      offences(sources, ({ text }) =>
        text.split('\n').length > 501 ? `${text.split('\n').length} lines: is there a second idea in it?` : undefined,
      ),
    ).toEqual([]);
  });

  test('nothing is left undone, switched off or swallowed', () => {
    const leftovers = new RegExp(
      [
        '\\bTO' + 'DO\\b',
        '\\bFIX' + 'ME\\b',
        '\\b(it|test|describe)\\.(on' + 'ly|to' + 'do)\\b',
        'catch( \\([^)]*\\))? \\{ *\\}',
        '\\.catch\\(\\(\\) => (\\{\\}|undefined|null)\\)',
        'not imple' + 'mented',
      ].join('|'),
    );
    expect(offences(sources, ({ text }) => leftovers.exec(text)?.[0])).toEqual([]);
  });

  test('no type check is switched off', () => {
    const suppressions = new RegExp(['@ts-ig' + 'nore', '@ts-no' + 'check'].join('|'));
    expect(
      offences(product, ({ text, code }) => (suppressions.exec(text) ?? /\bas any\b|: any\b/.exec(withoutStrings(code)))?.[0]),
    ).toEqual([]);
  });

  test('whatever can run on a real API server is run there by npm run test:real', () => {
    const filters = testsNamedFrom('test-real');
    const starters = /\/(server-under-test|cluster-program|installed-cluster|installation|local-run|partition-world)\.ts'/;
    // The image's programs are run as processes; what starts is the quick start in them.
    const others = /^test\/(unit\/|e2e\/image\.)/;
    const able = sources.filter(({ name, text }) => name.endsWith('.test.ts') && !others.test(name) && starters.test(text));
    expect(able.length).toBeGreaterThan(30);
    expect(offences(able, ({ name }) => (filters.some((filter) => name.includes(filter)) ? undefined : 'is not in test-real'))).toEqual([]);
  });

  test('what the suites of npm run test:operations and test:real name are tests', () => {
    const filters = testsNamedFrom('test-operations');
    expect(filters.length).toBeGreaterThan(50);
    expect(filters.filter((filter) => !sources.some(({ name }) => name.endsWith('.test.ts') && name.includes(filter)))).toEqual([]);
  });

  test('mutants that are known to change nothing are of lines that are there', () => {
    const lines = new Map(sources.map(({ name, text }) => [name, new Set(text.split('\n').map((line) => line.trim()))]));
    expect(EQUIVALENTS.filter(({ file, line }) => lines.get(file)?.has(line) !== true)).toEqual([]);
  });
});
