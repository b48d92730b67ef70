/**
 * Builds the page of the dashboard into manager/dashboard/dist, unless it is there already and made of the same files. --help says more.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `npm run build:page [-- --force]

Builds the page of the dashboard (manager/dashboard/page) into manager/dashboard/dist, unless what is there was made of the same files.

  --force   builds it in any case`;
const ROOT = path.join(import.meta.dirname, '..');
const PAGE = path.join(ROOT, 'manager', 'dashboard', 'page');
const TARGET = path.join(ROOT, 'manager', 'dashboard', 'dist');
/** What else goes into it. */
const SHARED = ['package-lock.json', 'manager/cli/submissions/server-events.ts', 'manager/dashboard/sent-item.ts'];
/** Beside it, so that it is not served. */
const STAMP = `${TARGET}.stamp`;

const { values } = parseArgs({ options: { force: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
if (values.help === true) console.log(HELP);
else await buildPage(values.force === true);

async function buildPage(force: boolean): Promise<void> {
  const stamp = digestOfSources();
  const isThere = (): boolean => existsSync(path.join(TARGET, 'index.html')) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp;
  if (!force && isThere()) return;
  // Loading it takes longer than finding out that there is nothing to build.
  const { build } = await import('vite');
  // Whatever the caller's is: Vite lets it win over the mode, and what is built for tests names source files and is never the same twice.
  process.env['NODE_ENV'] = 'production';
  // Two runs that build at once each have a folder of their own until it is whole.
  const draft = `${TARGET}.${process.pid}`;
  await build({
    configFile: false,
    root: PAGE,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: draft,
      emptyOutDir: true,
      target: 'es2023',
      // Both would be scripts or data in the page itself, which its policy forbids.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
    },
  });
  // Another one was faster: somebody may be reading there by now.
  if (!force && isThere()) return rmSync(draft, { recursive: true });
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(path.dirname(TARGET), { recursive: true });
  // Before the page itself: as soon as that is there, it is known to be the right one.
  writeFileSync(STAMP, stamp);
  try {
    renameSync(draft, TARGET);
  } catch (error) {
    // In this very moment another one has put its own there, which is the same.
    if (!isThere()) throw error;
    rmSync(draft, { recursive: true });
  }
}

/** Of all that goes into it: its own files, what it shares with the manager, and the versions of packages. */
function digestOfSources(): string {
  const digest = createHash('sha256');
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const own = files.map(({ parentPath, name }) => path.join(parentPath, name)).toSorted();
  for (const file of [...own, ...SHARED.map((name) => path.join(ROOT, name))])
    digest.update(`${path.relative(ROOT, file)}\n`).update(readFileSync(file));
  return digest.digest('hex');
}
