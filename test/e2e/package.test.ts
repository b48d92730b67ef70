/**
 * Goal: what `npm pack` packs runs as plain JavaScript, with nothing but what npm installs with it beside it: on the Node of these tests,
 * and on those that NODE_BINARIES names. With SWITCHYARD_SLOW=1.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { productionPlaces } from '../../scripts/image/production-files.ts';
import { readLock } from '../../scripts/supply-chain/npm.ts';
import { COMMANDS } from '../../manager/cli/commands.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { ChildProgram } from '../support/child-program.ts';
import { createCrds } from '../support/crds.ts';
import { startCluster } from '../support/embedded-cluster.ts';
import { isSlow } from '../support/slow.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 300_000;
const NODES = [process.execPath, ...(process.env['NODE_BINARIES'] ?? '').split(path.delimiter).filter((file) => file !== '')];

describe.skipIf(!isSlow)('the package', () => {
  let folder: string;
  let built: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'switchyard-package-'));
    built = path.join(folder, 'switchyard', 'dist');
    mkdirSync(path.dirname(built));
    for (const place of productionPlaces(readLock())) link(place);
    run(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'scripts/build-package.ts'), built]);
  }, LIMIT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What npm installs beside the package, of the packages here: `place` is one of package-lock.json. */
  function link(place: string): void {
    // A package within a package is there with the outer one.
    if (existsSync(path.join(folder, place))) return;
    mkdirSync(path.dirname(path.join(folder, place)), { recursive: true });
    symlinkSync(path.join(ROOT, place), path.join(folder, place));
  }

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

  test('there is no TypeScript in it but the types of the client', { timeout: LIMIT_MS }, () => {
    const files = readdirSync(built, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.d.ts') && !/^shared\/(client|api)\//.test(file))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'manager/cli/main.js',
        'package.json',
        'shared/client/client.js',
        'shared/client/client.d.ts',
        'shared/client/schemas/progress.json',
        'shared/runtime/leash.sh',
        'charts/switchyard-manager/files/manager-rules.yaml',
        'manager/dashboard/dist/index.html',
      ]),
    );
    expect(files.filter((file) => file.startsWith('manager/dashboard/page'))).toEqual([]);
  });

  describe.each(NODES)('with %s', { timeout: LIMIT_MS }, (node) => {
    const switchyard = (...args: string[]) => run(node, [path.join(built, 'manager', 'cli', 'main.js'), ...args]);

    test('it prints its help and its version', () => {
      expect(switchyard('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: switchyard'), stderr: '' });
      expect(switchyard('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    });

    test('it loads what commands do, and they get as far as the cluster', () => {
      for (const line of [
        'get jobs',
        'run --image x',
        'top',
        'queues',
        'explain a',
        'cancel a',
        'doctor',
        'clusters join a',
        'clusters leave a -y',
        'drain a',
      ])
        expect(switchyard(...line.split(' ')), line).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('cannot read the kubeconfig /nowhere'),
        });
      expect(switchyard('import', 'kueue', path.join(ROOT, 'examples', 'queues.yaml')).code).toBe(0);
      expect(COMMANDS.map(({ words }) => switchyard(...words.split(' '), '--help').code)).toEqual(COMMANDS.map(() => 0));
    });
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
        await using program = new ChildProgram('switchyard', [
          process.execPath,
          path.join(built, 'manager/cli/main.js'),
          'get',
          'jobs',
          '--kubeconfig',
          file,
        ]);
        return await program.find((line) => (line.startsWith('switchyard get:') ? line : undefined));
      };
      expect(await ask()).toContain('needs the package @kubernetes/client-node, which does not come with Switchyard; install it beside');
      link('node_modules/@kubernetes/client-node');
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
        const main = path.join(built, 'manager', 'main.js');
        const flags = [`--kubeconfig=${kubeconfig}`, '--dashboard-bind-address=127.0.0.1:0'];
        await using manager = new ChildProgram('the manager', [node, main, ...flags]);
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

  test('packed by npm, it is called switchyard, and kubectl-switchyard', { timeout: LIMIT_MS }, () => {
    const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], ROOT);
    expect(packed.code).toBe(0);
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    expect(run('tar', ['-xzf', archive]).code).toBe(0);
    symlinkSync(path.join('package', 'dist', 'manager', 'cli', 'main.js'), path.join(folder, 'kubectl-switchyard'));
    const { code, stdout } = run(process.execPath, [path.join(folder, 'kubectl-switchyard'), '--help']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: kubectl switchyard /) });
  });
});

test.runIf(!isSlow)('the package', ({ skip }) => skip('it takes half a minute: SWITCHYARD_SLOW=1'));
