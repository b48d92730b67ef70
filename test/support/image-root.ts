/**
 * The root file system of a container from our image, made without an engine: the tree that `scripts/image/assemble.ts` writes, Node, and
 * the libraries that it asks for.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');

/** What the Dockerfile says of its last stage. */
export type ImageSettings = {
  readonly user: { readonly uid: number; readonly gid: number };
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
};
export type Image = ImageSettings & {
  /** A root file system for one container more. Everything in it is the superuser's, and can be read by everybody. */
  newRoot(): string;
  /**
   * What a command line of the container begins with, to run in such a root as this user. Of util-linux, by its path: the container's PATH
   * holds for it, too.
   */
  enter(root: string, uid: number, gid: number): readonly [string, ...string[]];
  /** What the assembling has said. */
  readonly told: string;
  remove(): void;
};

/** A process can be put into another root file system, and given another user, by the superuser alone. */
export const canRunImages = (): boolean => process.getuid?.() === 0 && process.platform === 'linux';

export function assembleImage(): Image {
  const folder = mkdtempSync(path.join(inMemory() ?? tmpdir(), 'switchyard-image-'));
  chmodSync(folder, 0o755);
  const image = path.join(folder, 'image');
  const settings = readDockerfile(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8'));
  const told = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'scripts/image/assemble.ts', '--into', path.join(image, settings.workingDirectory)],
    { cwd: ROOT, encoding: 'utf8' },
  );
  const node = realpathSync(process.execPath);
  for (const library of librariesOf(node)) copy(library, path.join(image, library));
  copy(node, path.join(image, 'usr/local/bin/node'));
  let roots = 0;
  return {
    ...settings,
    told,
    newRoot() {
      const root = path.join(folder, `container-${++roots}`);
      // Hard links: nothing in it is ever written.
      execFileSync('cp', ['--archive', '--link', image, root]);
      return root;
    },
    enter: (root, uid, gid) => [
      '/usr/bin/unshare',
      `--root=${root}`,
      `--wd=${settings.workingDirectory}`,
      `--setgid=${gid}`,
      `--setuid=${uid}`,
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const ROOM_BYTES = 1024 ** 3;

/** A file system in memory on which programs may run, and with room for them: thousands of files come and go there at once. */
function inMemory(): string | undefined {
  const directory = '/dev/shm';
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === directory);
  if (mounted === undefined || /\bnoexec\b/.test(mounted)) return undefined;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize > ROOM_BYTES ? directory : undefined;
}

function copy(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(realpathSync(from), to);
}

const librariesOf = (program: string): string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, file = '']) => file);

/** Of the last stage, whose lines are few: ENV, WORKDIR and USER. */
export function readDockerfile(text: string): ImageSettings {
  const stage = text.slice(text.lastIndexOf('\nFROM ')).replaceAll('\\\n', ' ');
  const line = (word: string): string => new RegExp(`^${word} (.*)$`, 'm').exec(stage)?.[1]?.trim() ?? '';
  const [uid = Number.NaN, gid = uid] = line('USER').split(':').map(Number);
  const environment = [...line('ENV').matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare]) => [
    name,
    quoted ?? bare ?? '',
  ]);
  return { user: { uid, gid }, workingDirectory: line('WORKDIR'), environment: Object.fromEntries(environment) as Record<string, string> };
}
