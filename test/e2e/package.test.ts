/**
 * Goal: what a release gives to people runs by itself in a folder in which nothing else is, and is small: the package as npm installs it,
 * its client with its types, and the plugin of kubectl as one file; on the Node of these tests, and on those that NODE_BINARIES names.
 * With SWITCHYARD_SLOW=1.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { COMMANDS } from '../../manager/cli/commands.ts';
import { readLock } from '../../scripts/supply-chain/npm.ts';
import { productionPackages } from '../../scripts/supply-chain/production-packages.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { ChildProgram } from '../support/child-program.ts';
import { createCrds } from '../support/crds.ts';
import { startCluster } from '../support/embedded-cluster.ts';
import { isSlow } from '../support/slow.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 300_000;
const MIB = 1024 * 1024;
const SIZE_MAX = 15 * MIB;
const NODES = [process.execPath, ...(process.env['NODE_BINARIES'] ?? '').split(path.delimiter).filter((file) => file !== '')];

describe.skipIf(!isSlow)('the package', () => {
  let folder: string;
  /** Where npm has installed it, and nothing else. */
  let installed: string;
  /** The plugin, as krew unpacks it. */
  let plugin: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'switchyard-package-'));
    const build = (...args: readonly string[]): void =>
      expect(
        run(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'scripts/build-package.ts'), ...args]),
      ).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
    build(path.join(folder, 'built'));
    plugin = path.join(folder, 'plugin');
    build(plugin, '--plugin');
    expect(run('npm', ['pack', './built', '--silent']).code).toBe(0);
    installed = path.join(folder, 'empty');
    mkdirSync(installed);
    writeFileSync(path.join(installed, 'package.json'), '{"private":true}');
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    const install = ['install', '--offline', '--no-audit', '--no-fund', path.join(folder, archive)];
    expect(run('npm', install, installed)).toMatchObject({ code: 0 });
  }, LIMIT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(
    command: string,
    args: readonly string[],
    cwd = folder,
  ): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, KUBECONFIG: '/nowhere', NODE_OPTIONS: '' },
    });
    return { code: status, stdout, stderr };
  }
  const packed = (...parts: readonly string[]): string => path.join(installed, 'node_modules', 'switchyard', ...parts);
  const main = (): string => packed('manager', 'cli', 'main.js');

  test('it brings no other package, takes at most 15 MB, and has no TypeScript but the types of the client', () => {
    expect(readdirSync(path.join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['switchyard']);
    const files = readdirSync(packed(), { recursive: true, encoding: 'utf8' });
    // As much as a disk gives for it, in blocks.
    const bytes = files.reduce((sum, file) => sum + Math.ceil(lstatSync(packed(file)).size / 4_096) * 4_096, 0);
    expect(bytes).toBeLessThanOrEqual(SIZE_MAX);
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.d.ts') && !/^shared\/(client|api)\//.test(file))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'THIRD-PARTY-NOTICES.txt',
        'manager/cli/main.js',
        'manager/main.js',
        'worker/main.js',
        'shared/client/client.js',
        'shared/client/client.d.ts',
        'shared/client/schemas/progress.json',
        'shared/runtime/leash.sh',
        'charts/switchyard-manager/files/manager-rules.yaml',
        'manager/dashboard/dist/index.html',
      ]),
    );
    expect(files.filter((file) => file.startsWith('manager/dashboard/page'))).toEqual([]);
    // Nothing says where it was built.
    const mentions = files.filter((file) => lstatSync(packed(file)).isFile() && readFileSync(packed(file), 'utf8').includes(ROOT));
    expect(mentions).toEqual([]);
  });

  test('the licences of all packages whose code is in it are beside it, and the bill of materials has them', () => {
    const notices = readFileSync(packed('THIRD-PARTY-NOTICES.txt'), 'utf8');
    const named = [...notices.matchAll(/^(\S+) (\d\S*) \([\w.-]+\)$/gm)].map(([, name, version]) => `${name} ${version}`);
    const billed = productionPackages(readLock()).map(({ name, version }) => `${name} ${version}`);
    const inBrowsers = ['@preact/signals', '@preact/signals-core', 'preact', 'uplot'];
    expect(named.filter((each) => !billed.includes(each)).map((each) => each.split(' ')[0])).toEqual(inBrowsers);
    expect(named.map((each) => each.split(' ')[0])).toEqual(
      expect.arrayContaining(['bullmq', 'commander', 'ioredis', 'pino', 'prom-client', 'undici', 'yaml']),
    );
    const own = readFileSync(path.join(plugin, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    expect(own).toMatch(/^commander /m);
    expect(own).not.toMatch(/^preact /m);
  });

  test('what the help loads is small, and opens no connection', () => {
    const loaded = new Set<string>();
    const builtIns = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?["']([^"'\n]+)["'];$/gm))
        if (name.startsWith('.')) load(path.join(path.dirname(file), name));
        else builtIns.add(name);
    };
    load(main());
    const bytes = [...loaded].reduce((sum, file) => sum + lstatSync(file).size, 0);
    expect(bytes).toBeLessThan(MIB / 2);
    for (const each of ['node:http', 'node:https', 'node:http2', 'node:tls', 'node:sqlite', 'node:worker_threads'])
      expect([...builtIns]).not.toContain(each);
  });

  describe.each(NODES)('with %s', { timeout: LIMIT_MS }, (node) => {
    const programs = (): Readonly<Record<string, string>> => ({
      package: main(),
      'file of the plugin': path.join(plugin, 'kubectl-switchyard.mjs'),
    });
    const names = ['package', 'file of the plugin'];
    const switchyard = (name: string, ...args: string[]) => run(node, [programs()[name] ?? '', ...args]);

    test.each(names)('the %s prints its help and its version', (name) => {
      expect(switchyard(name, '--help')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Usage: (kubectl )?switchyard /),
        stderr: '',
      });
      expect(switchyard(name, '--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    });

    test.each(names)('the %s loads what commands do, and they get as far as the cluster', (name) => {
      for (const line of [
        'get jobs',
        'run --image x',
        'top',
        'queues',
        'explain a',
        'cancel a',
        'doctor',
        'what-if --drain a',
        'clusters join a',
        'clusters leave a -y',
        'drain a',
      ])
        expect(switchyard(name, ...line.split(' ')), line).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('cannot read the kubeconfig /nowhere'),
        });
      expect(switchyard(name, 'import', 'kueue', path.join(ROOT, 'examples', 'queues.yaml')).code).toBe(0);
      expect(switchyard(name, 'history', '-A', '--history-store', folder)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('there is no history.db'),
      });
      expect(COMMANDS.map(({ words }) => switchyard(name, ...words.split(' '), '--help').code)).toEqual(COMMANDS.map(() => 0));
    });

    test('npm makes both of its names of it, and kubectl finds one of them', () => {
      const bin = (name: string): string => path.join(installed, 'node_modules', '.bin', name);
      expect(run(node, [bin('switchyard'), '--help']).stdout).toMatch(/^Usage: switchyard /);
      expect(run(node, [bin('kubectl-switchyard'), 'get', '--help']).stdout).toMatch(/^Usage: kubectl switchyard get /);
      // As the shell starts it, and as krew links it.
      expect(run(bin('kubectl-switchyard'), ['get', '--help']).stdout).toMatch(/^Usage: kubectl switchyard get /);
      const linked = path.join(folder, `kubectl-switchyard-${NODES.indexOf(node)}`);
      symlinkSync(path.join(plugin, 'kubectl-switchyard.mjs'), linked);
      expect(run(linked, ['get', '--help']).stdout).toMatch(/^Usage: kubectl switchyard get /);
    });

    test('a file of the plugin that lies alone is enough, and says what it lacks', () => {
      const alone = path.join(folder, `alone-${NODES.indexOf(node)}`);
      mkdirSync(alone);
      cpSync(path.join(plugin, 'kubectl-switchyard.mjs'), path.join(alone, 'kubectl-switchyard.mjs'));
      const here = (...args: string[]) => run(node, ['kubectl-switchyard.mjs', ...args], alone);
      expect(here('what-if', '--drain', 'a')).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere') });
      expect(here('local')).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'kubectl switchyard local: runs the manager and workers, which do not come with the plugin: install the npm package, which has all programs\n',
      });
      expect(readdirSync(alone)).toEqual(['kubectl-switchyard.mjs']);
    });

    test('the client is imported by its name, and takes what lies in it', () => {
      writeFileSync(
        path.join(installed, 'program.mjs'),
        `import { connect, Invalid } from 'switchyard/client';
const client = connect({ redis: { host: '127.0.0.1', port: 1, lazyConnect: true, retryStrategy: () => null } });
console.log(await client.submit({}, { key: '17' }).catch((error) => error instanceof Invalid));
process.exit(0);\n`,
      );
      expect(run(node, ['program.mjs'], installed)).toEqual({ code: 0, stdout: 'true\n', stderr: '' });
    });
  });

  test('the types of the client say what it takes, with nothing but those of Node beside them', { timeout: LIMIT_MS }, () => {
    const types = path.join(installed, 'node_modules', '@types');
    mkdirSync(types, { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', '@types', 'node'), path.join(types, 'node'));
    const check = (program: string) => {
      writeFileSync(path.join(installed, 'program.mts'), program);
      const options = '--noEmit --strict --target es2024 --module nodenext --types node program.mts'.split(' ');
      return run(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...options], installed);
    };
    const good = `import { connect, type JobResult } from 'switchyard/client';
const client = connect({ redis: { host: 'redis', port: 6379, tls: {} }, prefix: 'a' });
const result: JobResult = await client.wait(await client.submit({ kind: 'Job' }, { retry: true }));
console.log(result.succeeded + 1);\n`;
    expect(check(good)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(check(good.replace('retry: true', 'retry: 1'))).toMatchObject({ stdout: expect.stringContaining('program.mts(3,') });
    rmSync(types, { recursive: true });
  });

  test('a legacy auth provider says what to install, and works with that beside it', { timeout: LIMIT_MS }, async () => {
    const { plane } = await startCluster(systemClock);
    try {
      const { kubeconfig } = await plane.listen();
      const config = parse(kubeconfig) as { users: { user: object }[] };
      for (const each of config.users)
        each.user = { 'auth-provider': { name: 'gcp', config: { 'access-token': 'unknown', expiry: '2099-01-01T00:00:00Z' } } };
      const file = path.join(folder, 'auth-provider');
      writeFileSync(file, stringify(config));
      const ask = async () => {
        await using program = new ChildProgram('switchyard', [process.execPath, main(), 'get', 'jobs', '--kubeconfig', file]);
        return await program.find((line) => (line.startsWith('switchyard get:') ? line : undefined));
      };
      expect(await ask()).toContain('needs the package @kubernetes/client-node, which does not come with Switchyard; install it beside');
      mkdirSync(path.join(installed, 'node_modules', '@kubernetes'), { recursive: true });
      symlinkSync(
        path.join(ROOT, 'node_modules', '@kubernetes', 'client-node'),
        path.join(installed, 'node_modules', '@kubernetes', 'client-node'),
      );
      // The token comes from the provider: that it is a wrong one is the API server's word.
      expect(await ask()).toContain('does not know who you are');
    } finally {
      await plane.close();
    }
  });

  test.each(NODES)(
    'its manager serves the page of the dashboard, without any tool that builds it: %s',
    { timeout: LIMIT_MS },
    async (node) => {
      const { plane, client } = await startCluster(systemClock);
      try {
        await createCrds(client);
        const kubeconfig = path.join(folder, 'kubeconfig');
        writeFileSync(kubeconfig, (await plane.listen()).kubeconfig);
        const flags = [`--kubeconfig=${kubeconfig}`, '--dashboard-bind-address=127.0.0.1:0'];
        await using manager = new ChildProgram('the manager', [node, packed('manager', 'main.js'), ...flags]);
        const url = await manager.find((line) =>
          line.includes('the dashboard is served') ? /"url":"(http:[^"]+)"/.exec(line)?.[1] : undefined,
        );
        const page = await (await fetch(`${url}/`)).text();
        const assets = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, asset]) => asset);
        expect(assets.length).toBeGreaterThanOrEqual(3);
        for (const asset of assets) expect((await fetch(`${url}/${asset}`)).status, asset).toBe(200);
      } finally {
        await plane.close();
      }
    },
  );

  test('its quick start runs the examples with the programs, charts and page that it brings', { timeout: LIMIT_MS }, () => {
    const { code, stdout, stderr } = run(process.execPath, [main(), 'local', '--dir', path.join(folder, 'run')], installed);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^pi +API +\w+ +Complete/m);
  });
});

test.runIf(!isSlow)('the package', ({ skip }) => skip('it takes a minute: SWITCHYARD_SLOW=1'));
