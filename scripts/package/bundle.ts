import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';
import { withPlainNames } from './plain-javascript.ts';
import { ROOT } from './program-files.ts';

export type BundleOptions = {
  /** Sources from the top of the project, by the names of the files that they become, both without `.ts` and `.js`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Absolute; what lies there stays. */
  readonly into: string;
  /** The bundle reads no file beside it; the quick start, which would, is left out. */
  readonly readsNothing?: boolean;
};

/**
 * Writes programs as JavaScript of few files, with all that they use of packages in them: each entry, and what entries have in common or
 * load later in files of their own. Resolves with the folders of these packages.
 * Names are not shortened: what a stack trace or a class says is as in the sources.
 */
export async function bundle({ entries, into, readsNothing = false }: BundleOptions): Promise<readonly string[]> {
  const input = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(ROOT, `${file}.ts`)]));
  // Whatever the caller's is: Vite lets it win over the mode, and what is built for tests names source files.
  process.env['NODE_ENV'] = 'production';
  const made = await build({
    configFile: false,
    envDir: false,
    publicDir: false,
    root: ROOT,
    mode: 'production',
    logLevel: 'error',
    plugins: [ownPlaces(readsNothing), ...(readsNothing ? [withoutQuickStart()] : [])],
    ssr: { noExternal: true, external: [...NOT_BUNDLED] },
    build: {
      ssr: true,
      outDir: into,
      emptyOutDir: false,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input,
        // Names of files as they are seen from wherever it is built.
        experimental: { attachDebugInfo: 'none' },
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: `${CHUNKS}/[name].js`,
          // Licences are in a file of their own.
          comments: false,
        },
      },
    },
  });
  if (!Array.isArray(made) && !('output' in made)) throw new Error('the bundler was asked to build once, and goes on');
  const modules = [made].flat().flatMap(({ output }) => output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
  return [...new Set(modules.flatMap((module) => PACKAGE_FOLDER.exec(module)?.[0] ?? []))].toSorted();
}

/** Packages that are loaded where somebody has installed them, and done without elsewhere. */
const NOT_BUNDLED = ['@kubernetes/client-node', 'msgpackr-extract', 'pg'] as const;
const CHUNKS = 'chunks';
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const TOP = '@TOP@';

/**
 * A file of ours finds what lies beside it by where it is itself. In the bundle it is elsewhere: it is told where it would be. What it
 * reads as text, by a name that stands there, goes into the bundle.
 */
function ownPlaces(readsNothing: boolean): Plugin {
  return {
    name: 'own-places',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(`${ROOT}/`) || id.includes('/node_modules/')) return undefined;
      const place = path.posix.relative(ROOT, id).replace(/\.ts$/, '.js');
      const moved = code
        .replaceAll(/readFileSync\(new URL\('([^']+)', import\.meta\.url\), 'utf8'\)/g, (_, file: string) =>
          JSON.stringify(readFileSync(new URL(file, pathToFileURL(id)), 'utf8')),
        )
        .replaceAll('import.meta.url', `(import.meta.url + '/../${TOP}/${place}')`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${TOP}/${path.posix.dirname(place)}')`)
        .replaceAll('import.meta.filename', `(import.meta.dirname + '/${TOP}/${place}')`);
      if (readsNothing && moved.includes(TOP)) throw new Error(`${place} reads files beside it, and there are none`);
      return { code: moved, map: null };
    },
    renderChunk(code, { fileName }) {
      const top = path.posix.relative(path.posix.dirname(fileName), '') || '.';
      return { code: withPlainNames(code.replaceAll(TOP, top)), map: null };
    },
  };
}

/** The quick start runs the other programs, with the charts and examples. */
function withoutQuickStart(): Plugin {
  const id = path.join(ROOT, 'manager', 'cli', 'local', 'run.ts');
  return {
    name: 'without-quick-start',
    enforce: 'pre',
    load: (asked) =>
      asked === id
        ? [
            "import { CommandError } from '../command-error.ts';",
            'export const runLocal = () => Promise.reject(new CommandError(',
            "  'runs the manager and workers, which do not come with the plugin: install the npm package, which has all programs'));",
          ].join('\n')
        : undefined,
  };
}
