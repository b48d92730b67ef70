#!/usr/bin/env node
// Runs a program of this repository on a machine that may have nothing but Node 20 and npm: installs what is
// missing first, then starts the program on the Node 24 that npm brought. Uses no package itself, because it
// runs before there are any.
//
//   node scripts/run.mjs PROGRAM [ARGUMENTS...]      (see PROGRAMS; `npm start` and `npm test` call this)
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const BIN = path.join(ROOT, 'node_modules', '.bin');
const LEASH = path.join(ROOT, 'shared', 'runtime', 'leash.sh');
const EXIT_USAGE = 2;
/** Debian's package, unpacked: installed it would start a server of its own. */
const PROMETHEUS = path.join(ROOT, 'node_modules', '.cache', 'prometheus');

/** Compiler, linter and formatter. A checker beyond the number of cores repeats the work of the others. */
const CHECKS = [
  ['tsc', '-p', '.', '--checkers', '2'],
  ['tsc', '-p', 'manager/dashboard/page'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['biome', 'format', '.'],
];

/**
 * Each program is a list of command lines, run in order until one fails; with `all` the others run as well. The user's arguments go to
 * the last.
 */
const PROGRAMS = {
  start: { redis: true, commands: [['node', 'manager/cli/local.ts']] },
  test: { redis: true, suite: 'short', commands: [...CHECKS, ['vitest', 'run']] },
  'test-long': { redis: true, suite: 'long', commands: [['vitest', 'run']] },
  // One test file or folder, or a few: nothing else is checked. With --watch again after each change.
  unit: { redis: true, commands: [process.argv.includes('--watch') ? ['vitest'] : ['vitest', 'run']] },
  check: { redis: false, all: true, commands: [...CHECKS, ['vitest', 'run', 'test/layers.test.ts', 'test/tidy.test.ts']] },
  // What documents tell operators to do, the ways to install, a release, a real Prometheus, and more of what npm test does a little of:
  // minutes, as root.
  'test-operations': {
    redis: true,
    commands: [
      [
        'vitest',
        'run',
        'test/e2e/operations',
        'test/e2e/applied-charts',
        'test/e2e/install',
        'test/e2e/killed-quick-start',
        'test/e2e/chart-matrix',
        'test/e2e/chart-notes',
        'test/e2e/helm-install',
        'test/e2e/helm-repeat',
        'test/e2e/image',
        'test/e2e/package',
        'test/e2e/release',
        'test/e2e/prometheus',
        'test/e2e/site',
        'test/e2e/tutorial',
        'test/hostile/worker-cluster-load',
        'test/hostile/redis-fuzz',
        'test/scenario/alerts',
        'test/scenario/kinds-by-situation',
        'test/scenario/manager-crashes',
        'test/scenario/own-certificates',
        'test/scenario/replay',
        'test/unit/manager/insight/estimate/estimate-start',
        'test/model',
        'test/simulation/dispatch',
        'test/simulation/election',
        'test/simulation/job-controller',
      ],
    ],
  },
  // Whatever can run on a real kube-apiserver, on the one that KUBEBUILDER_ASSETS names: minutes, as root. In one process, because a
  // control plane takes half a gigabyte.
  'test-real': {
    redis: true,
    needs: 'KUBEBUILDER_ASSETS',
    commands: [
      [
        'vitest',
        'run',
        '--maxWorkers=1',
        'test/conformance/api-cases',
        'test/conformance/cel-costs',
        'test/conformance/job-scenarios-real-time',
        'test/conformance/compatibility',
        'test/e2e/applied-charts',
        'test/e2e/chart-matrix',
        'test/e2e/chart-notes',
        'test/e2e/cli-manager',
        'test/e2e/decision-log',
        'test/e2e/helm-install',
        'test/e2e/helm-repeat',
        'test/e2e/http-submissions',
        'test/e2e/install',
        'test/e2e/killed-quick-start',
        'test/e2e/kubectl',
        'test/e2e/metrics-authentication',
        'test/e2e/oidc-managers',
        'test/e2e/operations',
        'test/e2e/partition',
        'test/e2e/prometheus',
        'test/e2e/quick-start',
        'test/e2e/tutorial',
        'test/e2e/uninstall',
        'test/e2e/upstream-controllers',
        'test/e2e/webhook-real-time',
        'test/hostile/stolen-manager-token',
        'test/hostile/stolen-worker-token',
        'test/hostile/tenant-writes',
        'test/scenario/history-purge',
        'test/scenario/pod-security',
      ],
    ],
  },
  // What a controller throws away is small and short-lived: a young generation of Node's default size costs memory and saves no time.
  worker: { redis: false, commands: [['node', '--max-semi-space-size=8', 'worker/main.ts']] },
  'control-plane': { redis: false, commands: [['node', 'shared/controlplane/main.ts']] },
  manager: { redis: false, commands: [['node', 'manager/main.ts']] },
  certificates: { redis: false, commands: [['node', 'manager/certificates.ts']] },
  // Of its commands only `local` wants Redis, and says so by its first word.
  switchyard: { redis: process.argv[3] === 'local', commands: [['node', 'manager/cli/main.ts']] },
  'import-kueue': { redis: false, commands: [['node', 'manager/cli/import-kueue.ts']] },
  explain: { redis: false, commands: [['node', 'manager/cli/explain.ts']] },
  mutate: { redis: true, commands: [['node', 'test/mutation/main.ts']] },
  model: { redis: false, commands: [['vitest', 'run', 'test/model']] },
  simulate: { redis: false, commands: [['node', 'test/simulation/main.ts']] },
  bench: { redis: false, commands: [['node', 'test/bench/main.ts']] },
  audit: { redis: false, commands: [['node', 'scripts/audit.ts']] },
  licenses: { redis: false, commands: [['node', 'scripts/licenses.ts']] },
  sbom: { redis: false, commands: [['node', 'scripts/sbom.ts']] },
  'build-package': { redis: false, commands: [['node', '--disable-warning=ExperimentalWarning', 'scripts/build-package.ts']] },
  image: { redis: false, commands: [['node', 'scripts/image/build.ts']] },
  release: { redis: false, commands: [['node', 'scripts/release/main.ts']] },
  // The documents as a site, in docs/.vitepress/dist. Its generator has packages of its own, which nothing else waits for.
  docs: { redis: false, packages: 'docs', commands: [['node', 'docs/node_modules/vitepress/bin/vitepress.js', 'build', 'docs']] },
  node: { redis: false, commands: [['node']] },
};

const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};

const canRun = (command) =>
  (process.env.PATH ?? '').split(path.delimiter).some((directory) => {
    try {
      accessSync(path.join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false; // not in this directory: look in the next
    }
  });

/** The lock file's hash is written beside the modules once they are complete, so a broken installation is repeated. */
function installModules(folder) {
  const stamp = path.join(folder, 'node_modules', '.switchyard-installed');
  const lock = createHash('sha256')
    .update(readFileSync(path.join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  console.log('Installing node modules (first run, or package-lock.json has changed) ...');
  const [command, ...prefix] = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const npm = spawnSync(command, [...prefix, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
  if (npm.status !== 0) fail('npm ci failed. Look at its message above; the npm registry must be reachable for the first run.');
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, lock);
}

/** Uses $REDIS_SERVER or a redis-server on the PATH, installs Debian's package where that is possible. */
function provideRedis() {
  if (process.env.REDIS_SERVER || canRun('redis-server')) return;
  const byHand =
    'redis-server is missing. Install it (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis) or set REDIS_SERVER to its path, then run the command again.';
  if (!canRun('apt-get')) fail(byHand);
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (asRoot.length > 0 && (!canRun('sudo') || spawnSync('sudo', ['-n', 'true']).status !== 0)) fail(byHand);
  console.log('Installing redis-server with apt-get (first run) ...');
  const apt = (...args) => {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    return spawnSync(command, rest, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status;
  };
  const install = () => apt('install', '-y', '-q', '--no-install-recommends', 'redis-server');
  if (install() !== 0 && (apt('update', '-q') !== 0 || install() !== 0)) fail(byHand);
}

/** promtool and prometheus, for the tests of alerts and for --prometheus. Whoever wants them says so when they are missing. */
function providePrometheus() {
  const own = path.join(PROMETHEUS, 'usr', 'bin');
  if ((canRun('promtool') && canRun('prometheus')) || existsSync(path.join(own, 'promtool')) || !canRun('dpkg-deb')) return;
  console.log('Fetching Prometheus with apt-get (first run) ...');
  mkdirSync(PROMETHEUS, { recursive: true });
  spawnSync('apt-get', ['download', '-q', 'prometheus'], { cwd: PROMETHEUS, stdio: 'ignore' });
  const fetched = readdirSync(PROMETHEUS).find((file) => file.endsWith('.deb'));
  if (fetched === undefined || spawnSync('dpkg-deb', ['-x', fetched, '.'], { cwd: PROMETHEUS, stdio: 'ignore' }).status !== 0)
    console.log('Prometheus could not be fetched (sudo apt-get install prometheus); what needs it is skipped, and says so.');
}

function checkNode() {
  const version = spawnSync('node', ['--version'], { env: environment(), encoding: 'utf8' }).stdout ?? '';
  if (Number(version.slice(1).split('.')[0]) >= 24) return;
  fail(
    `Node 24 or newer is needed, found ${version.trim() || 'none'}. npm brings it on Linux (x64, arm64); elsewhere install Node 24 yourself.`,
  );
}

const environment = () => ({
  ...process.env,
  PATH: [BIN, process.env.PATH ?? '', path.join(PROMETHEUS, 'usr', 'bin')].join(path.delimiter),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(ROOT, 'node_modules', '.cache', 'compile'),
  // Compiler, linter, promtool, helm and kubectl are Go programs that end soon: up to a third of what they do is to collect garbage.
  ...(name?.startsWith('test') ? { GOGC: process.env.GOGC ?? '400' } : {}),
});

/**
 * Runs one command line with our terminal. It gets the signals that reach only us, and SIGTERM when we or npm are killed without a word.
 */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', [LEASH, 'TERM', 'process', command, ...args], {
      cwd: ROOT,
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: environment(),
    });
    // What watches us at the other end may be gone before the command is.
    child.stdio[3].on('error', () => child.stdio[3].destroy());
    const forward = (signal) => child.kill(signal);
    // A terminal sends Ctrl-C to the whole process group: the child has it already, we only wait for it.
    const stay = () => undefined;
    process.on('SIGTERM', forward).on('SIGHUP', forward).on('SIGINT', stay);
    const watch = watchNpm(() => child.kill('SIGTERM'));
    child.on('error', (error) => fail(`${command}: ${error.message}`));
    child.on('exit', (code, signal) => {
      child.stdio[3].end('\n');
      clearInterval(watch);
      process.off('SIGTERM', forward).off('SIGHUP', forward).off('SIGINT', stay);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

/** Tells when npm, which runs us through a shell that may stay between, has ended before us: processes get new parents then. */
function watchNpm(gone) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const shell = isShell(process.ppid) ? process.ppid : undefined;
  const parentOfShell = shell === undefined ? undefined : parentOf(shell);
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent && (shell === undefined || parentOf(shell) === parentOfShell)) return;
    clearInterval(watch);
    gone();
  }, 300);
  return watch;
}

/** What /proc tells of a process: its name, and behind it the state and the parent. Undefined where there is no /proc. */
function statOf(pid) {
  try {
    return /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined; // no such process, or a system that tells in another way
  }
}
const isShell = (pid) => /^(sh|dash|bash|zsh|ksh|ash|busybox)$/.test(statOf(pid)?.[1] ?? '');
const parentOf = (pid) => statOf(pid)?.[2];

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(PROGRAMS, name ?? '')) {
  const problem = name === undefined ? 'no program is named' : `there is no program ${JSON.stringify(name)}`;
  fail(`run: ${problem}; write node scripts/run.mjs PROGRAM with one of ${Object.keys(PROGRAMS).join(', ')}`, EXIT_USAGE);
}
const program = PROGRAMS[name];
// A run that tests nothing real must not pass for one that did.
if (program.needs !== undefined && !process.env[program.needs])
  fail(
    `${name}: set ${program.needs} to a directory with etcd and kube-apiserver, and kube-controller-manager if it is to run as well (setup-envtest use -p path prints one)`,
    EXIT_USAGE,
  );
installModules(ROOT);
if (program.packages !== undefined) installModules(path.join(ROOT, program.packages));
checkNode();
if (program.redis) provideRedis();
const asksPrometheus = name === 'test-operations' || name === 'test-real' || (name === 'test' && process.env.SWITCHYARD_SLOW === '1');
if (asksPrometheus || args.includes('--prometheus')) providePrometheus();
// Files that are named are run, whatever suite they are of.
if (program.suite !== undefined && args.every((each) => each.startsWith('-'))) process.env.SWITCHYARD_SUITE = program.suite;
let failure = 0;
for (const [index, [command, ...fixed]] of program.commands.entries()) {
  const code = await run(command, index === program.commands.length - 1 ? [...fixed, ...args] : fixed);
  if (code !== 0 && program.all !== true) process.exit(code);
  failure ||= code;
}
process.exit(failure);
