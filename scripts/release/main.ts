/** Makes the artefacts of a release, the same ones from the same sources, and publishes them. --help says more. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { withFixedTimes } from './archive-times.ts';
import { pluginArchive, pluginManifest, PLUGIN_MANIFEST } from './krew.ts';
import { publishingSteps } from './publishing.ts';
import { changesOf, released, type Release, VERSIONED_FILES, versionProblem } from './version.ts';

const HELP = `npm run release -- --version VERSION [FLAGS]

Makes what a release consists of, in a folder of its own: the package (npm pack), the plugin of kubectl with its manifest for krew, both charts, install.yaml and install-worker.yaml, a bill
of materials, the changes, and SHA256SUMS of all.
The same commit gives the same bytes. Then it writes the version into the sources, where these do not say it yet, for you to commit and tag,
and prints the commands that publish.

  --version VERSION    such as 0.2.0 or 0.2.0-rc.1
  --into DIR           default: release/VERSION
  --registry REGISTRY  for the image and, below charts/, the charts (default ghcr.io/switchyard)
  --dry-run            makes the artefacts, and leaves the sources as they are
  --publish            runs the commands that publish: helm push, and cosign where it is installed. The image is pushed before, by npm run image`;
const EXIT_USAGE = 2;
const ROOT = path.join(import.meta.dirname, '..', '..');
/** They say the version of the charts. */
const MANIFESTS = 'scripts/generate-install-manifests.ts';
const CHARTS = ['switchyard-manager', 'switchyard-worker'];
const ARCHIVE_MAX = 64 * 1024 * 1024;

process.exitCode = main();

function main(): number {
  const { values: flags } = parseArgs({
    options: {
      version: { type: 'string' },
      into: { type: 'string' },
      registry: { type: 'string', default: 'ghcr.io/switchyard' },
      'dry-run': { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (flags.help === true) return console.log(HELP), 0;
  const before = (JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  const problem = flags.version === undefined ? '--version is missing' : versionProblem(flags.version, before);
  if (flags.version === undefined || problem !== undefined) return complain(`${problem}; --help says more`, EXIT_USAGE);
  if (flags.publish && flags['dry-run']) return complain('--publish and --dry-run do not go together', EXIT_USAGE);
  if (!flags['dry-run'] && git('status', '--porcelain') !== '') return complain('there are changes that are not committed', 1);
  // Of the commit, so that the same sources make the same artefacts.
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'));
  const release = { version: flags.version, date: new Date(epoch * 1000).toISOString().slice(0, 10) };
  // A tag is released again as it is: its sources say the version already.
  const isTagged = before === release.version && changesOf(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'), before) !== '';
  const into = path.resolve(flags.into ?? path.join(ROOT, 'release', release.version));
  make(release, epoch, into, isTagged);
  if (!flags['dry-run'] && !isTagged) {
    for (const file of VERSIONED_FILES) writeReleased(ROOT, file, release);
    execFileSync(process.execPath, [MANIFESTS], { cwd: ROOT });
  }
  return publish(publishingSteps({ ...release, registry: flags.registry, files: readdirSync(into) }), into, flags.publish);
}

function make(release: Release, epoch: number, into: string, isTagged: boolean): void {
  const staging = mkdtempSync(path.join(tmpdir(), 'switchyard-release-'));
  try {
    // 1. The sources as of this release: what git knows of, and nothing else that lies about.
    for (const file of git('ls-files', '-z')
      .split('\0')
      .filter((name) => name !== '')) {
      mkdirSync(path.dirname(path.join(staging, file)), { recursive: true });
      cpSync(path.join(ROOT, file), path.join(staging, file));
    }
    if (!isTagged) for (const file of VERSIONED_FILES) writeReleased(staging, file, release);
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(staging, 'node_modules'));
    rmSync(into, { recursive: true, force: true });
    mkdirSync(into, { recursive: true });
    const run = (command: string, ...args: readonly string[]): string => execFileSync(command, args, { cwd: staging, encoding: 'utf8' });
    // 2. The package. npm gives all files of an archive the same time by itself.
    const buildPackage = (...args: readonly string[]): string =>
      run(process.execPath, '--disable-warning=ExperimentalWarning', 'scripts/build-package.ts', ...args);
    buildPackage();
    run('npm', 'pack', './dist', '--ignore-scripts', '--silent', '--pack-destination', into);
    // 3. The plugin of kubectl, and where krew finds it.
    buildPackage('plugin', '--plugin');
    const plugin = path.join(into, pluginArchive(release.version));
    const tar = execFileSync('tar', ['--format=ustar', '-c', ...readdirSync(path.join(staging, 'plugin')).toSorted()], {
      cwd: path.join(staging, 'plugin'),
      maxBuffer: ARCHIVE_MAX,
    });
    writeFileSync(plugin, gzipSync(withFixedTimes(tar, epoch), { level: 9 }));
    const template = readFileSync(path.join(staging, 'scripts', 'release', PLUGIN_MANIFEST), 'utf8');
    const sum = sha256(readFileSync(plugin)).toString('hex');
    writeFileSync(path.join(into, PLUGIN_MANIFEST), pluginManifest(template, { version: release.version, sha256: sum }));
    // 4. The charts, and what they render without values.
    for (const chart of CHARTS) {
      run('helm', 'package', path.join('charts', chart), '--destination', into);
      const file = path.join(into, `${chart}-${release.version}.tgz`);
      writeFileSync(file, gzipSync(withFixedTimes(gunzipSync(readFileSync(file)), epoch), { level: 9 }));
    }
    run(process.execPath, MANIFESTS);
    for (const file of ['install.yaml', 'install-worker.yaml']) cpSync(path.join(staging, 'charts', file), path.join(into, file));
    // 5. What they are made of, and what has changed.
    run(process.execPath, 'scripts/sbom.ts', '--output', path.join(into, 'sbom.cdx.json'));
    settle(path.join(into, 'sbom.cdx.json'), epoch);
    writeFileSync(
      path.join(into, 'CHANGES.md'),
      `${changesOf(readFileSync(path.join(staging, 'CHANGELOG.md'), 'utf8'), release.version)}\n`,
    );
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  // 6. The sums, in the form that sha256sum --check reads.
  const sums = readdirSync(into)
    .toSorted()
    .map((file) => `${sha256(readFileSync(path.join(into, file))).toString('hex')}  ${file}\n`);
  writeFileSync(path.join(into, 'SHA256SUMS'), sums.join(''));
  console.log(`release ${release.version} in ${into}:\n${sums.join('')}`);
}

/** npm gives each bill a number by chance, and the time at which it was made. */
function settle(file: string, epoch: number): void {
  const bill = JSON.parse(readFileSync(file, 'utf8')) as { serialNumber?: string; metadata: { timestamp?: string } };
  delete bill.serialNumber;
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  const bytes = sha256(JSON.stringify(bill)).subarray(0, 16);
  // A UUID of version 8, which is made of whatever its maker likes (RFC 9562).
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  writeFileSync(file, `${JSON.stringify({ ...bill, serialNumber: `urn:uuid:${uuid}` }, undefined, 2)}\n`);
}

function writeReleased(folder: string, file: (typeof VERSIONED_FILES)[number], release: Release): void {
  const at = path.join(folder, file);
  writeFileSync(at, released(file, readFileSync(at, 'utf8'), release));
}

function publish(steps: ReturnType<typeof publishingSteps>, into: string, isWanted: boolean): number {
  console.log(isWanted ? 'publishing:' : `to publish it, push the image (npm run image -- --push), and then in ${into}:`);
  for (const { needs, command } of steps) {
    const [program, ...args] = command;
    if (isWanted && spawnSync(needs, ['version'], { stdio: 'ignore' }).error !== undefined) {
      console.log(`left out, as there is no ${needs}: ${command.join(' ')}`);
      continue;
    }
    console.log(`$ ${command.join(' ')}`);
    if (isWanted && spawnSync(program, args, { cwd: into, stdio: 'inherit' }).status !== 0) return 1;
  }
  return 0;
}

function sha256(data: Buffer | string): Buffer {
  return createHash('sha256').update(data).digest();
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function complain(problem: string, code: number): number {
  console.error(`release: ${problem}`);
  return code;
}
