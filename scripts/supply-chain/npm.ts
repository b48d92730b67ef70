import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PackageLock } from './production-packages.ts';

export const ROOT = path.dirname(path.dirname(import.meta.dirname));

/** Runs npm on this project: the one that called us, if one did. */
export function npm(
  args: readonly string[],
  timeoutMs: number,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const called = process.env['npm_execpath'];
  const [command, ...prefix] = called === undefined ? ['npm'] : [process.execPath, called];
  const { status, stdout, stderr } = spawnSync(command ?? 'npm', [...prefix, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}

export const readLock = (): PackageLock => JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as PackageLock;
