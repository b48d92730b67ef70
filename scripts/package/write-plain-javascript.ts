import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { innerPackageFile, withPlainNames } from './plain-javascript.ts';

/** The top of the project. */
export const ROOT = path.join(import.meta.dirname, '..', '..');
const CODE = ['manager', 'shared', 'worker'];
const AS_IT_IS = ['charts', 'examples'];
const DASHBOARD = path.join('manager', 'dashboard');
/** For browsers: sources, which stay behind, and what is built of them, which is served as it is. */
const PAGE = { sources: path.join(DASHBOARD, 'page'), built: path.join(DASHBOARD, 'dist') };

/** Empties `target`, and writes all programs there as plain JavaScript, with the charts and examples that they read. */
export function writePlainJavaScript(target: string): void {
  providePage();
  rmSync(target, { recursive: true, force: true });
  for (const folder of CODE)
    for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith('.md')) continue;
      const file = path.join(entry.parentPath, entry.name);
      if (isWithin(file, PAGE.sources) || path.relative(ROOT, file).startsWith(`${PAGE.built}.`)) continue;
      const to = path.join(target, path.relative(ROOT, file));
      mkdirSync(path.dirname(to), { recursive: true });
      if (entry.name.endsWith('.ts') && !isWithin(file, PAGE.built))
        writeFileSync(to.replace(/\.ts$/, '.js'), withPlainNames(stripTypeScriptTypes(readFileSync(file, 'utf8'))));
      else cpSync(file, to);
    }
  for (const folder of AS_IT_IS) cpSync(path.join(ROOT, folder), path.join(target, folder), { recursive: true });
  writeFileSync(
    path.join(target, 'package.json'),
    innerPackageFile(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { name: string; version: string }),
  );
  chmodSync(path.join(target, 'manager', 'cli', 'main.js'), 0o755);
}

const isWithin = (file: string, folder: string): boolean => path.relative(ROOT, file).startsWith(`${folder}${path.sep}`);

/** Builds the page of the dashboard where the tools for that are; elsewhere, as in an image's last steps, it must have been built. */
function providePage(): void {
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
