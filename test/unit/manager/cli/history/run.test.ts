import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { ExitCode } from '../../../../../manager/cli/exit-codes.ts';
import { runHistory, type HistoryConfig } from '../../../../../manager/cli/history/run.ts';
import type { Output } from '../../../../../manager/cli/session.ts';
import { recordEntries } from '../../../../../manager/history/history.ts';
import { openStore } from '../../../../../manager/history/open-store.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';

const NOW_MS = Date.UTC(2026, 0, 5);
let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'switchyard-history-'));
  const store = await openStore({ kind: 'Directory', path: directory }, undefined, silentLogger);
  const times = { created: '2026-01-04T23:58:00Z', ended: '2026-01-04T23:59:00Z' };
  await store.put(recordEntries({ uid: 'u1', namespace: 'team', name: 'sum', outcome: 'Complete', ...times, succeeded: 1, failed: 0 }));
  await store.close();
  return () => rmSync(directory, { recursive: true });
});

/** Exit code, output and errors of the command for a namespace. */
async function history(namespace: string, output: HistoryConfig['output']) {
  const printed = { output: '', errors: '' };
  const to = (stream: keyof typeof printed): Output => ({
    write: async (text) => void (printed[stream] += text),
    isTerminal: false,
    width: Infinity,
    colours: false,
  });
  const config: HistoryConfig = {
    kubeconfig: undefined,
    context: undefined,
    server: undefined,
    'server-ca': undefined,
    'token-file': undefined,
    store: directory,
    job: undefined,
    namespace,
    'all-namespaces': false,
    outcome: undefined,
    'created-by': undefined,
    since: undefined,
    canaries: false,
    limit: 10,
    output,
  };
  const code = await runHistory(config, {
    output: to('output'),
    errors: to('errors'),
    input: Readable.from([]),
    environment: {},
    signal: new AbortController().signal,
    now: () => NOW_MS,
  });
  return { code, ...printed };
}

describe('the history of a namespace', () => {
  test('is a table of its Jobs, and nothing else is said', async () => {
    const { code, output, errors } = await history('team', 'table');
    expect([code, errors]).toEqual([ExitCode.Done, '']);
    expect(output).toMatch(/^JOB +OUTCOME .*\nsum +Complete .*\n$/);
  });

  test('in which no Job has ended is no table, and a sentence says so', async () => {
    expect(await history('empty', 'table')).toEqual({ code: ExitCode.Done, output: '', errors: 'There is no such history.\n' });
  });

  test('in which no Job has ended is an empty list for a program that reads it', async () => {
    const { code, output, errors } = await history('empty', 'json');
    expect([code, JSON.parse(output), errors]).toEqual([ExitCode.Done, { items: [] }, '']);
  });
});
