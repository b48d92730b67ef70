#!/usr/bin/env node
/**
 * Writes what `npm pack` packs: the programs and the client as plain JavaScript, because Node strips no types below node_modules, and the types of
 * the client beside it. `node scripts/build-package.ts [DIRECTORY]`.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { innerPackageFile, withPlainNames } from './package/plain-javascript.ts';

const ROOT = path.join(import.meta.dirname, '..');
const target = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'));
const CODE = ['manager', 'shared', 'worker'];
const AS_IT_IS = ['charts', 'examples'];

rmSync(target, { recursive: true, force: true });
for (const folder of CODE)
  for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.md')) continue;
    const file = path.join(entry.parentPath, entry.name);
    const to = path.join(target, path.relative(ROOT, file));
    mkdirSync(path.dirname(to), { recursive: true });
    if (entry.name.endsWith('.ts'))
      writeFileSync(to.replace(/\.ts$/, '.js'), withPlainNames(stripTypeScriptTypes(readFileSync(file, 'utf8'))));
    else cpSync(file, to);
  }
writeDeclarations();
for (const folder of AS_IT_IS) cpSync(path.join(ROOT, folder), path.join(target, folder), { recursive: true });
writeFileSync(
  path.join(target, 'package.json'),
  innerPackageFile(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { name: string; version: string }),
);
chmodSync(path.join(target, 'manager', 'cli', 'main.js'), 0o755);

/** Of the client, and of what it imports. */
function writeDeclarations(): void {
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = path.join(import.meta.dirname, 'package', 'tsconfig.json');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', target], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the types of the client could not be written: ${stdout}${stderr}`);
  for (const entry of readdirSync(path.join(target, 'shared'), { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const file = path.join(entry.parentPath, entry.name);
    writeFileSync(file, withPlainNames(readFileSync(file, 'utf8')));
  }
}
