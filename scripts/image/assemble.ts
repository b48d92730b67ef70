/** Writes the tree that is `/app` of the image: the Dockerfile calls this, and whoever has no engine may. --help says more. */
import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../package/program-files.ts';
import { writePlainJavaScript } from '../package/write-plain-javascript.ts';
import type { PackageLock } from '../supply-chain/production-packages.ts';
import { isRuntimeFile, productionPlaces } from './production-files.ts';

const HELP = `node scripts/image/assemble.ts --into DIR

Writes the programs as plain JavaScript into DIR, which is emptied before, and beside them the packages of node_modules that they need. What runs there is
  node manager/main.js, node manager/certificates.js, node worker/main.js and node manager/cli/main.js (the program switchyard), with DIR as the working directory.
Everybody may read all of it, and nothing in it has to be written.

  --into DIR   required`;
const EXIT_USAGE = 2;
const MIB = 1024 * 1024;

process.exitCode = main();

function main(): number {
  const { values } = parseArgs({ options: { into: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return console.log(HELP), 0;
  if (values.into === undefined || values.into === '') {
    console.error('assemble: --into is missing; write --into DIR');
    return EXIT_USAGE;
  }
  const target = path.resolve(values.into);
  writePlainJavaScript(target);
  copyPackages(target);
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(path.join(ROOT, name), path.join(target, name));
  const size = openToAll(target);
  console.log(`assembled: ${(size.bytes / MIB).toFixed(1)} MiB in ${size.files} files in ${target}`);
  return 0;
}

/** As npm has installed and checked them, without what no program reads. */
function copyPackages(target: string): void {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as PackageLock;
  for (const place of productionPlaces(lock)) {
    const from = path.join(ROOT, place);
    if (!existsSync(from)) throw new Error(`${place} is not installed: run npm ci first`);
    cpSync(from, path.join(target, place), {
      recursive: true,
      filter: (file) => {
        const inner = path.relative(from, file);
        // What lies in a node_modules of its own has a place of its own.
        return inner === '' || (!inner.split(path.sep).includes('node_modules') && (statSync(file).isDirectory() || isRuntimeFile(inner)));
      },
    });
  }
}

/** Whatever the umask of whoever called was: an image is read by a user that its builder does not know. */
function openToAll(directory: string): { readonly bytes: number; readonly files: number } {
  let [bytes, files] = [0, 0];
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const { mode, size } = lstatSync(file);
    if (entry.isSymbolicLink()) continue;
    chmodSync(file, entry.isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644);
    if (entry.isFile()) [bytes, files] = [bytes + size, files + 1];
  }
  return { bytes, files };
}
