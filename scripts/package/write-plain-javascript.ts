import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { innerPackageFile, withPlainNames } from './plain-javascript.ts';

/** The top of the project. */
export const ROOT = path.join(import.meta.dirname, '..', '..');
const CODE = ['manager', 'shared', 'worker'];
const AS_IT_IS = ['charts', 'examples'];
/** Sources of what is built for browsers: what was built of them lies beside them, and goes along. */
const PAGES = [path.join('manager', 'dashboard', 'page')];

/** Empties `target`, and writes all programs there as plain JavaScript, with the charts and examples that they read. */
export function writePlainJavaScript(target: string): void {
  rmSync(target, { recursive: true, force: true });
  for (const folder of CODE)
    for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith('.md')) continue;
      const file = path.join(entry.parentPath, entry.name);
      if (PAGES.some((page) => path.relative(ROOT, file).startsWith(`${page}${path.sep}`))) continue;
      const to = path.join(target, path.relative(ROOT, file));
      mkdirSync(path.dirname(to), { recursive: true });
      if (entry.name.endsWith('.ts'))
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
