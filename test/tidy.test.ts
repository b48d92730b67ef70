/** The house rules of CONTRIBUTING.md, as a test: what a reader may rely on in every file. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.dirname(import.meta.dirname);
const CODE_FOLDERS = ['shared', 'worker', 'manager', 'scripts', 'test'];
const PRODUCT_FOLDERS = ['shared/', 'worker/', 'manager/'];

type SourceFile = { readonly name: string; readonly text: string; readonly code: string; readonly imports: readonly Import[] };
type Import = { readonly specifier: string; readonly target: string; readonly typeOnly: boolean };

/** Source without comments, so that a rule about code does not fire on prose. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');

const withoutStrings = (code: string): string => code.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "''");

function importsOf(name: string, code: string): Import[] {
  const found: Import[] = [];
  for (const match of code.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\s+from\s+)?'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta\.url\)/g,
  )) {
    const specifier = match[2] ?? match[3] ?? match[4];
    if (specifier === undefined) continue;
    const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(name), specifier) : specifier;
    found.push({ specifier, target, typeOnly: match[1] !== undefined });
  }
  return found;
}

const sources: SourceFile[] = CODE_FOLDERS.flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.posix.join(folder, name)),
)
  .filter((name) => /\.(ts|mjs)$/.test(name) && !name.includes('/static/'))
  .toSorted()
  .map((name) => {
    const text = readFileSync(path.join(ROOT, name), 'utf8');
    const code = withoutComments(text);
    return { name, text, code, imports: importsOf(name, code) };
  });
const product = sources.filter((file) => PRODUCT_FOLDERS.some((folder) => file.name.startsWith(folder)));

/** The files marked * in the folder map: they decide, and do nothing else. */
const PURE = [
  ...[
    'decide',
    'tally',
    'verdict',
    'scale',
    'pod-failure-policy',
    'success-policy',
    'indexes',
    'backoff',
    'pod-template',
    'account',
    'settle',
  ].map((name) => `worker/job/${name}.ts`),
  ...['workload', 'quota-tree', 'snapshot', 'ordering', 'flavor-assigner', 'placement', 'schedule'].map(
    (name) => `manager/admission/${name}.ts`,
  ),
  ...['decide-mirror', 'remote-job', 'to-local-status'].map((name) => `manager/dispatch/${name}.ts`),
  'manager/prepare-job.ts',
  'manager/webhook/validate-job.ts',
  'shared/kube/selectors.ts',
  'shared/kube/quantity.ts',
];

const layerOf = (name: string): string => {
  if (name === 'manager/cli/local.ts' || name.startsWith('manager/cli/local/')) return 'local';
  return name.startsWith('shared/') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? '');
};
/** Who may import whom. */
const ALLOWED: Record<string, readonly string[]> = {
  'shared/api': [],
  'shared/runtime': ['shared/api'],
  'shared/kube': ['shared/api', 'shared/runtime'],
  'shared/controlplane': ['shared/api', 'shared/runtime', 'shared/kube'],
  worker: ['shared/api', 'shared/runtime', 'shared/kube'],
  manager: ['shared/api', 'shared/runtime', 'shared/kube'],
  local: ['shared/api', 'shared/runtime', 'shared/kube', 'shared/controlplane', 'worker', 'manager'],
};
const MANAGER_SIBLINGS = ['submission', 'webhook', 'admission', 'dispatch', 'dashboard'];

const offences = (files: readonly SourceFile[], find: (file: SourceFile) => string | undefined): string[] =>
  files.flatMap((file) => {
    const offence = find(file);
    return offence === undefined ? [] : [`${file.name}: ${offence}`];
  });

describe('layers', () => {
  test('every import follows the import matrix', () => {
    expect(
      offences(product, (file) => {
        const layer = layerOf(file.name);
        const wrong = file.imports.filter(
          ({ target }) =>
            PRODUCT_FOLDERS.some((folder) => target.startsWith(folder)) &&
            layerOf(target) !== layer &&
            !ALLOWED[layer]?.includes(layerOf(target)),
        );
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
  });

  test('the siblings inside manager do not import one another', () => {
    const siblingOf = (name: string): string | undefined => MANAGER_SIBLINGS.find((sibling) => name.startsWith(`manager/${sibling}/`));
    expect(
      offences(product, (file) => {
        const own = siblingOf(file.name);
        if (own === undefined) return undefined;
        const wrong = file.imports.filter(({ target }) => siblingOf(target) !== undefined && siblingOf(target) !== own);
        return wrong.length === 0 ? undefined : `imports ${wrong.map(({ target }) => target).join(', ')}`;
      }),
    ).toEqual([]);
  });

  test('bullmq is imported in one file', () => {
    expect(product.filter((file) => file.imports.some(({ specifier }) => specifier === 'bullmq')).map(({ name }) => name)).toEqual([
      'manager/submission/bullmq-queue.ts',
    ]);
  });
});

describe('pure files', () => {
  test('every file marked pure exists', () => {
    const names = new Set(sources.map(({ name }) => name));
    expect(PURE.filter((name) => !names.has(name))).toEqual([]);
  });

  test('a pure file awaits nothing, reads no clock, makes no I/O and logs nothing', () => {
    expect(
      offences(
        sources.filter(({ name }) => PURE.includes(name)),
        ({ code, imports }) => {
          const word = /\basync\b|\bawait\b|Date\.now|Math\.random|setTimeout|setInterval|process\.|console\.|new Date\(\)/.exec(code)?.[0];
          if (word !== undefined) return `contains ${word}`;
          const effects = imports.find(
            ({ target, typeOnly }) =>
              !typeOnly &&
              (target.startsWith('node:') ||
                /shared\/runtime\/(?!random)|shared\/kube\/(?!selectors|quantity|object-key|conditions)/.test(target)),
          );
          return effects === undefined ? undefined : `imports ${effects.target}`;
        },
      ),
    ).toEqual([]);
  });

  test('every pure file has its unit test', () => {
    const names = new Set(sources.map(({ name }) => name));
    expect(PURE.filter((name) => !names.has(`test/unit/${name.replace(/\.ts$/, '.test.ts')}`))).toEqual([]);
  });
});

describe('every file', () => {
  test('time and chance come in as arguments', () => {
    const allowed = /^shared\/runtime\/|\/(main|config)\.ts$|^manager\/cli\//;
    expect(
      offences(
        product.filter(({ name }) => !allowed.test(name)),
        ({ code }) => /\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('environment and flags are read in config files and programs alone', () => {
    const allowed = /\/(main|config)\.ts$|^manager\/cli\/|^shared\/runtime\/|^shared\/kube\/kubeconfig\.ts$/;
    expect(
      offences(
        product.filter(({ name }) => !allowed.test(name)),
        ({ code }) => /process\.(env|argv)/.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no module holds mutable state', () => {
    expect(
      offences(
        product,
        ({ code }) =>
          /^(export )?let .*$/m.exec(code)?.[0] ??
          /^(export )?const \w+(: (?:Map|Set|WeakMap|WeakSet)<[^=]+)? = new (Map|Set|WeakMap|WeakSet|Array)\(\);?$/m.exec(code)?.[0],
      ),
    ).toEqual([]);
  });

  test('no product file is imported by nobody', () => {
    const entryPoints = /\/main\.ts$|^manager\/cli\/local\.ts$/;
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
});
