/**
 * An installation as docs/install.md has it: three clusters in this process (`home`, `east`, `west`), a Redis, and a reader's shell with
 * kubectl, helm and the contexts of all three. What is installed runs as the Deployments say (test-kubelet.ts).
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assembleImage, canRunImages, type Image } from './image-root.ts';
import { startInstalledCluster, type InstalledCluster } from './installed-cluster.ts';
import { findKubectls } from './kubectl.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { ReadersShell, shellBlocks, type ShellBlock, type ShellResult } from './shell-document.ts';

export const ROOT = path.join(import.meta.dirname, '..', '..');
export const CLUSTERS = ['home', 'east', 'west'] as const;
export type ClusterName = (typeof CLUSTERS)[number];

export interface Installation extends AsyncDisposable {
  readonly clusters: Readonly<Record<ClusterName, InstalledCluster>>;
  readonly redis: TestRedis;
  readonly image: Image;
  /** A folder of this test's own; the shell has its name as FOLDER. */
  readonly folder: string;
  /** As far as docs/install.md leads without a Job. */
  install(): Promise<void>;
  /**
   * Runs the blocks of a document under these headings (all where none is named), in their order. Throws with the block's place and what it
   * printed where one fails.
   */
  follow(document: string, headings?: readonly string[]): Promise<readonly (ShellBlock & { readonly output: string })[]>;
  /** Runs what is not in a document. */
  sh(text: string): Promise<ShellResult>;
  /** Gives the reader one more kubeconfig. */
  addKubeconfig(file: string): void;
  /** Sets a variable of the reader's environment. */
  set(name: string, value: string): void;
  /** What happens at a `<!-- here: WORDS -->` of a document. */
  here(words: string, happens: () => Promise<void>): void;
  /** What the programs have said last, for a test that fails. */
  said(): string;
}

const [KUBECTL] = findKubectls(process.env).toReversed();
/** Whether this machine has what it takes: the superuser, and a kubectl. */
export const canInstall = (): boolean => canRunImages() && KUBECTL !== undefined;

/**
 * A stand-in for an engine, on the reader's PATH: it takes the command lines of `npm run image`, and builds nothing, as the tree is
 * assembled by this test.
 */
const ENGINE = '#!/bin/sh\ncase "$1" in info|build|images|push) ;; save) : > "${2#--output=}" ;; *) exit 1 ;; esac\n';

/** The reader's `npm run` would install the packages anew where it does not find its stamp, under all tests that run beside. */
function requireInstalledModules(): void {
  const lock = createHash('sha256')
    .update(readFileSync(path.join(ROOT, 'package-lock.json')))
    .digest('hex');
  const stamp = path.join(ROOT, 'node_modules', '.switchyard-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  throw new Error('the packages were not installed by `npm run`: run node scripts/run.mjs node --version, and then this test again');
}

const CONTROLLERS = ['garbage-collector', 'namespace', 'pod-gc'] as const;

export async function startInstallation(): Promise<Installation> {
  requireInstalledModules();
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-installation-'));
  starting.defer(async () => rmSync(folder, { recursive: true, force: true }));
  const image = assembleImage();
  starting.defer(async () => image.remove());
  const redis = await startRedis();
  starting.defer(() => redis.stop());
  const start = async (name: ClusterName): Promise<InstalledCluster> => {
    const cluster = await startInstalledCluster(name, image, name === 'home' ? CONTROLLERS : [...CONTROLLERS, 'node-agent']);
    starting.use(cluster);
    cluster.kubelet.follow();
    return cluster;
  };
  const clusters = { home: await start('home'), east: await start('east'), west: await start('west') };
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(KUBECTL?.file ?? '', path.join(bin, 'kubectl'));
  writeFileSync(path.join(bin, 'docker'), ENGINE, { mode: 0o755 });
  const shell = new ReadersShell(ROOT, {
    HOME: folder,
    FOLDER: folder,
    TMPDIR: folder,
    PATH: [bin, path.join(ROOT, 'node_modules', '.bin'), path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    KUBECONFIG: CLUSTERS.map((name) => clusters[name].kubeconfigFile).join(path.delimiter),
    REDIS_URL: redis.url,
  });
  const hooks = new Map<string, () => Promise<void>>();
  const run = async (block: ShellBlock, document: string): Promise<ShellBlock & { readonly output: string }> => {
    if (block.text.startsWith('#here ')) {
      const happens = hooks.get(block.text.slice('#here '.length));
      if (happens === undefined) throw new Error(`${document}:${block.line}: nothing is said to happen ${block.text}`);
      await happens();
      return { ...block, output: '' };
    }
    const { code, output } = await shell.run(block.text);
    if (code !== 0)
      throw new Error(`${document}:${block.line} (${block.heading}) ended with ${code}:\n${block.text}\n--\n${output}\n--\n${said()}`);
    return { ...block, output };
  };
  const said = (): string =>
    CLUSTERS.flatMap((name) => [
      `${name}: ${String(clusters[name].kubelet.problem ?? '')}`,
      ...clusters[name].kubelet.pods().map((pod) => `${name}: ${pod.lines.slice(-15).join('\n')}`),
    ]).join('\n--\n');
  const follow: Installation['follow'] = async (document, headings) => {
    const all = shellBlocks(readFileSync(path.join(ROOT, document), 'utf8'));
    const missing = headings?.find((heading) => !all.some((block) => block.heading === heading));
    if (missing !== undefined) throw new Error(`${document} has no commands under ${missing}`);
    const results = [];
    for (const block of all) if (headings === undefined || headings.includes(block.heading)) results.push(await run(block, document));
    return results;
  };
  const resources = starting.move();
  return {
    clusters,
    redis,
    image,
    folder,
    install: async () => void (await follow('docs/install.md', ['What you need', 'The workers', 'The manager', 'Joining', 'Quota'])),
    follow,
    sh: (text) => shell.run(text),
    addKubeconfig: (file) => shell.set('KUBECONFIG', [...CLUSTERS.map((name) => clusters[name].kubeconfigFile), file].join(path.delimiter)),
    set: (name, value) => shell.set(name, value),
    here: (words, happens) => void hooks.set(words, happens),
    said,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
