import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The top of the project. */
export const ROOT = path.join(import.meta.dirname, '..', '..');
const CODE = ['manager', 'shared', 'worker'];
const AS_IT_IS = ['charts', 'examples'];
const DASHBOARD = path.join('manager', 'dashboard');
/** For browsers: sources, which stay behind, and what is built of them, which is served as it is. */
const PAGE = { sources: path.join(DASHBOARD, 'page'), built: path.join(DASHBOARD, 'dist') };

/** Files of the programs, from the top of the project: their sources, and what they read beside these. */
export const programFiles = (): { readonly sources: readonly string[]; readonly data: readonly string[] } => {
  const files = CODE.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
      .map(({ parentPath, name }) => path.relative(ROOT, path.join(parentPath, name))),
  ).filter((file) => !isWithin(file, PAGE.sources) && !file.startsWith(`${PAGE.built}.`));
  const isSource = (file: string): boolean => file.endsWith('.ts') && !isWithin(file, PAGE.built);
  return { sources: files.filter(isSource), data: files.filter((file) => !isSource(file)) };
};

/** Writes what the programs read, which lies in `target` as it lies in the project: the page, tables, charts and examples. */
export function copyData(target: string): void {
  for (const file of programFiles().data) {
    const to = path.join(target, file);
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(path.join(ROOT, file), to);
  }
  for (const folder of AS_IT_IS) cpSync(path.join(ROOT, folder), path.join(target, folder), { recursive: true });
}

const isWithin = (file: string, folder: string): boolean => file.startsWith(`${folder}${path.sep}`);

/** Builds the page of the dashboard where the tools for that are; elsewhere, as in an image's last steps, it must have been built. */
export function providePage(): void {
  if (existsSync(path.join(ROOT, 'node_modules', 'vite'))) {
    const script = path.join(ROOT, 'scripts', 'build-page.ts');
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return;
  }
  if (!existsSync(path.join(ROOT, PAGE.built, 'index.html')))
    throw new Error(`${PAGE.built} is not there: run npm ci and node scripts/build-page.ts first`);
}
