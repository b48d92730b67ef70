import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { innerPackageFile, withPlainNames } from './plain-javascript.ts';
import { copyData, programFiles, providePage, ROOT } from './program-files.ts';

/** Empties `target`, and writes all programs there as plain JavaScript, with what they read. Their packages are to lie beside them. */
export function writePlainJavaScript(target: string): void {
  providePage();
  rmSync(target, { recursive: true, force: true });
  for (const file of programFiles().sources) {
    const to = path.join(target, file.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, withPlainNames(stripTypeScriptTypes(readFileSync(path.join(ROOT, file), 'utf8'))));
  }
  copyData(target);
  writeFileSync(
    path.join(target, 'package.json'),
    innerPackageFile(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { name: string; version: string }),
  );
  chmodSync(path.join(target, 'manager', 'cli', 'main.js'), 0o755);
}
