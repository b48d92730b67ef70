import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A kubeconfig of one context `c`, cluster `k` and user `u`. */
export const aKubeconfig = (user: object = {}, cluster: object = {}, context: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://k.test:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
  });

/** A directory with these files, gone when the test has ended. */
export function aDirectory(files: Readonly<Record<string, string>> = {}): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text, { mode: 0o700 });
  }
  return directory;
}

/** What is thrown; throws where nothing is. */
export function failureOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
