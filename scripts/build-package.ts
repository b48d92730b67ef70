#!/usr/bin/env node
/**
 * Writes what `npm pack` packs: the programs and the client as plain JavaScript, because Node strips no types below node_modules, and the
 * types of the client beside it. `node scripts/build-package.ts [DIRECTORY]`.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withPlainNames } from './package/plain-javascript.ts';
import { ROOT, writePlainJavaScript } from './package/write-plain-javascript.ts';

const target = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'));

writePlainJavaScript(target);
writeDeclarations();

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
