import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, realpathSync, readdirSync } from 'node:fs';
import path from 'node:path';

export type KubectlBinary = { readonly file: string; readonly version: string };

/**
 * Every kubectl of this machine, one for each version: those that $KUBECTL_BINARIES names (joined as a PATH), else the one
 * on the PATH and its siblings `kubectl.1.27` and the like, as some distributions have them.
 */
export function findKubectls(environment: Readonly<Record<string, string | undefined>>): KubectlBinary[] {
  const files = environment['KUBECTL_BINARIES']?.split(path.delimiter) ?? onPath(environment['PATH'] ?? '');
  const byVersion = new Map(files.filter(existsSync).map((file) => [versionOf(file), file]));
  return [...byVersion].map(([version, file]) => ({ file, version })).toSorted((a, b) => compareVersions(a.version, b.version));
}

function onPath(searched: string): string[] {
  const found = searched
    .split(path.delimiter)
    .map((directory) => path.join(directory, 'kubectl'))
    .find(existsSync);
  if (found === undefined) return [];
  const directory = path.dirname(realpathSync(found));
  const siblings = readdirSync(directory).filter((name) => /^kubectl\.\d+\.\d+$/.test(name));
  return [found, ...siblings.map((name) => path.join(directory, name))];
}

function versionOf(file: string): string {
  const { stdout } = spawnSync(file, ['version', '--client', '--output=json'], { encoding: 'utf8' });
  return (JSON.parse(stdout) as { clientVersion: { gitVersion: string } }).clientVersion.gitVersion;
}

const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

export type KubectlResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
export type KubectlInput = { readonly stdin?: string; readonly environment?: Readonly<Record<string, string>> };

/** One kubectl, one cluster, one namespace. */
export interface Kubectl {
  /** Its standard output, where the command succeeds; the command is one string, split at blanks outside of quotes. */
  (command: string, input?: KubectlInput): Promise<string>;
  /** Whatever comes of it. */
  attempt(command: string, input?: KubectlInput): Promise<KubectlResult>;
  /** What it says on standard error, where the command is to fail. */
  refused(command: string, input?: KubectlInput): Promise<string>;
  /** One that stays: its output so far, until it is stopped. */
  start(command: string): RunningKubectl;
}

export interface RunningKubectl {
  output(): string;
  stop(): Promise<void>;
}

export function createKubectl({ file }: KubectlBinary, kubeconfig: string, namespace: string, cacheDir: string): Kubectl {
  const launch = (command: string, environment: KubectlInput['environment'] = {}): ChildProcess =>
    spawn(file, [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`, `--cache-dir=${cacheDir}`, ...words(command)], {
      env: { ...process.env, ...environment },
    });
  const attempt: Kubectl['attempt'] = async (command, { stdin, environment } = {}) => {
    const child = launch(command, environment);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.stdin?.end(stdin ?? '');
    const code = await exitOf(child);
    return { code, ...output };
  };
  const run = async (command: string, input?: KubectlInput): Promise<string> => {
    const { code, stdout, stderr } = await attempt(command, input);
    if (code !== 0) throw new Error(`kubectl ${command}: exit code ${code}\n${stderr}${stdout}`);
    return stdout;
  };
  return Object.assign(run, {
    attempt,
    refused: async (command: string, input?: KubectlInput) => {
      const { code, stdout, stderr } = await attempt(command, input);
      if (code === 0) throw new Error(`kubectl ${command} was to fail, and printed\n${stdout}`);
      return stderr;
    },
    start: (command: string): RunningKubectl => {
      const child = launch(command);
      const exit = exitOf(child);
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      return {
        output: () => output,
        stop: async () => {
          child.kill();
          await exit;
        },
      };
    },
  });
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));

/** Splits at blanks; single quotes keep a word together. */
const words = (command: string): string[] => (command.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));
