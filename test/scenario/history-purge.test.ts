/** Who erases history is noted where the command is told to, by the name that the API server knows; otherwise nothing is erased. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runHistoryPurge, type HistoryPurgeConfig } from '../../manager/cli/history/run-purge.ts';
import type { Session } from '../../manager/cli/session.ts';
import { createHistory, recordEntries } from '../../manager/history/history.ts';
import { openStore } from '../../manager/history/open-store.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';

const NOW_MS = Date.UTC(2026, 0, 5);
let server: ServerUnderTest;
let folder: string;
let config: HistoryPurgeConfig;
const output = { write: async () => undefined, isTerminal: false, width: Infinity, colours: false };
const session: Session = {
  output,
  errors: output,
  input: Readable.from([]),
  environment: {},
  signal: new AbortController().signal,
  now: () => NOW_MS,
};

beforeAll(async () => {
  server = await startServerUnderTest();
}, 120_000);
afterAll(() => server.close());
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-purge-'));
  const store = await openStore({ kind: 'Directory', path: path.join(folder, 'history') }, undefined, silentLogger);
  const ended = new Date(NOW_MS - 60_000).toISOString();
  const record = {
    uid: 'u1',
    namespace: 'team',
    name: 'sum',
    outcome: 'Complete',
    created: ended,
    ended,
    succeeded: 1,
    failed: 0,
  } as const;
  await store.put(recordEntries(record));
  await store.close();
  config = {
    store: path.join(folder, 'history'),
    kubeconfig: server.kubeconfigFile,
    context: undefined,
    namespace: 'team',
    user: undefined,
    before: NOW_MS,
    'audit-log': path.join(folder, 'audit.log'),
    'dry-run': false,
    yes: true,
    output: 'text',
  };
  return () => rmSync(folder, { recursive: true });
});

/** Records of the namespace that are left. */
async function left(): Promise<number> {
  const store = await openStore({ kind: 'Directory', path: config.store }, undefined, silentLogger);
  try {
    return (await createHistory(store).purge({ namespace: 'team' }, { dryRun: true })).jobs;
  } finally {
    await store.close();
  }
}

test('a purge leaves one line with the user, the selection and what was erased; a dry run leaves none', { timeout: 60_000 }, async () => {
  await runHistoryPurge({ ...config, 'dry-run': true }, session);
  expect(await left()).toBe(1);
  await runHistoryPurge(config, session);
  expect(await left()).toBe(0);
  const lines = readFileSync(path.join(folder, 'audit.log'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      log: 'audit',
      time: '2026-01-05T00:00:00.000Z',
      who: expect.objectContaining({ user: expect.stringMatching(/./) }),
      what: 'purge',
      value: 'namespace=team before=2026-01-05T00:00:00Z',
      on: { kind: 'History', namespace: 'team', name: null, uid: null },
      from: { door: 'cli', address: hostname() },
      reason: expect.stringMatching(/^erased the records of 1 Job, /),
      outcome: 'Done',
    },
  ]);
});

test('nothing is erased where the line cannot be written', { timeout: 60_000 }, async () => {
  const nowhere = { ...config, 'audit-log': path.join(folder, 'no', 'such', 'folder') };
  await expect(runHistoryPurge(nowhere, session)).rejects.toThrow(/^--audit-log: .* cannot be written, and nothing was erased$/);
  expect(await left()).toBe(1);
});

test('nothing is erased where no API server says who the user is', { timeout: 60_000 }, async () => {
  const without = { ...config, kubeconfig: path.join(folder, 'no-kubeconfig') };
  await expect(runHistoryPurge(without, session)).rejects.toThrow(/no-kubeconfig/);
  expect(await left()).toBe(1);
});
