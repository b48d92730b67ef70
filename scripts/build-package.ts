#!/usr/bin/env node
/** Builds the package that is published, or the plugin of kubectl. --help says more. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from './package/bundle.ts';
import { packagesOfPage, readPackage } from './package/bundled-packages.ts';
import { noticesText } from './package/notices.ts';
import { oneFile } from './package/one-file.ts';
import { packageFile, type ProjectFile } from './package/package-file.ts';
import { withPlainNames } from './package/plain-javascript.ts';
import { copyData, providePage, ROOT } from './package/program-files.ts';

const HELP = `npm run build:package [-- [DIRECTORY] [--plugin]]

Writes the package that \`npm pack DIRECTORY\` packs, into dist or DIRECTORY, which is emptied before: the programs with all packages that they use in them,
the client and its types, the charts and examples.

  --plugin   writes the plugin of kubectl instead, for krew: the program switchyard as one file, and its licences`;
const CLIENT = path.join('shared', 'client', 'client');
const COMMAND = 'manager/cli/main';
const PROGRAMS = [COMMAND, 'manager/main', 'worker/main', 'manager/insight/questions/simulation-worker', CLIENT];
const PLUGIN = 'kubectl-switchyard.mjs';

const { values, positionals } = parseArgs({
  options: { plugin: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
if (values.help === true) console.log(HELP);
else await build(path.resolve(positionals[0] ?? path.join(ROOT, 'dist')), values.plugin === true);

async function build(target: string, isPlugin: boolean): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const packages = isPlugin ? await writePlugin(target) : await writePackage(target);
  writeFileSync(path.join(target, 'THIRD-PARTY-NOTICES.txt'), noticesText(packages.map(readPackage)));
  cpSync(path.join(ROOT, 'LICENSE'), path.join(target, 'LICENSE'));
}

async function writePlugin(target: string): Promise<readonly string[]> {
  const parts = path.join(target, 'parts');
  const packages = await bundle({ entries: { [COMMAND]: COMMAND }, into: parts, readsNothing: true });
  const names = readdirSync(parts, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const modules = new Map(names.map((name) => [name.replaceAll(path.sep, '/'), readFileSync(path.join(parts, name), 'utf8')]));
  rmSync(parts, { recursive: true });
  writeFileSync(path.join(target, PLUGIN), oneFile(modules, `${COMMAND}.js`), { mode: 0o755 });
  return packages;
}

async function writePackage(target: string): Promise<readonly string[]> {
  providePage();
  const packages = await bundle({ entries: Object.fromEntries(PROGRAMS.map((program) => [program, program])), into: target });
  copyData(target);
  writeDeclarations(target);
  const project = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as ProjectFile;
  writeFileSync(path.join(target, 'package.json'), packageFile(project));
  chmodSync(path.join(target, `${COMMAND}.js`), 0o755);
  return [...new Set([...packages, ...packagesOfPage()])];
}

/** Of the client, and of what its types name; what it uses besides stays its own. */
function writeDeclarations(target: string): void {
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = path.join(import.meta.dirname, 'package', 'tsconfig.json');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', target], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the types of the client could not be written: ${stdout}${stderr}`);
  const named = new Set<string>();
  const name = (file: string): void => {
    if (named.has(file)) return;
    named.add(file);
    const text = withPlainNames(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    for (const [, other = ''] of text.matchAll(/from '(\.[^']+)\.js'/g)) name(path.join(path.dirname(file), `${other}.d.ts`));
  };
  name(path.join(target, `${CLIENT}.d.ts`));
  for (const entry of readdirSync(path.join(target, 'shared'), { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.name.endsWith('.d.ts') && !named.has(file)) rmSync(file);
  }
}
