/** The program `switchyard` as a user runs it, in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';

const MAIN = path.join(import.meta.dirname, '..', '..', 'manager', 'cli', 'main.ts');

export type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
export type RunningSwitchyard = {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
  /** What it has said so far. */
  said(): Pick<Outcome, 'stdout' | 'stderr'>;
};

export type SwitchyardOptions = {
  readonly kubeconfig?: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

export function startSwitchyard(
  args: readonly string[],
  { kubeconfig, input = '', environment = {} }: SwitchyardOptions = {},
): RunningSwitchyard {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  const outcome = new Promise<Outcome>((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve({ code, ...output })),
  );
  return { child, outcome, said: () => ({ ...output }) };
}

export const switchyard = (args: readonly string[], options?: SwitchyardOptions): Promise<Outcome> =>
  startSwitchyard(args, options).outcome;
