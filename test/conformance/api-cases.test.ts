/** HTTP exchanges recorded from kube-apiserver v1.36, had again over HTTPS: the embedded control plane, or a real one, gives the same answers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isServerReal, type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { type Answer, type ApiCase, loadApiCases, type Need } from './support/api-case.ts';
import { expectedForm, normalForm } from './support/api-case-normal-form.ts';
import { playApiCase } from './support/api-case-player.ts';
import { differences } from './support/difference.ts';
import { type HookServer, startHookServer } from './support/hook-server.ts';
import { createRawHttp, type RawHttp } from './support/raw-http.ts';

const CASE_LIMIT_MS = 60_000;
let server: ServerUnderTest;
let http: RawHttp;
let hooks: HookServer;

beforeAll(async () => {
  server = await startServerUnderTest({ whoseControllers: 'ours' });
  http = await createRawHttp(server.access);
  hooks = await startHookServer();
}, CASE_LIMIT_MS);

afterAll(async () => {
  await http?.close();
  await hooks?.close();
  await server?.close();
});

describe.concurrent('kube-apiserver v1.36', () => {
  for (const [position, apiCase] of loadApiCases().entries()) {
    test(`${apiCase.name}: ${apiCase.about}`, { timeout: CASE_LIMIT_MS, concurrent: !ALONE.has(apiCase.name) }, async ({ skip }) => {
      const missing = apiCase.needs?.find((need) => LACKING[need] !== undefined);
      if (missing !== undefined) skip(LACKING[missing]);
      const played = await playApiCase(http, hooks, apiCase, idOf(position));
      expect(differencesOf(apiCase, normalForm(played, apiCase, Date.now()))).toEqual([]);
    });
  }
});

/** Its webhook for all definitions is on a real server also called when controllers write the status of those that other cases make. */
const ALONE: ReadonlySet<string> = new Set(isServerReal() ? ['k-hook-match-policy'] : []);

/** What the server under test cannot have beside it, and why. */
const LACKING: Readonly<Partial<Record<Need, string>>> = isServerReal() ? { compaction: 'etcd is compacted after five minutes only' } : {};

/** Short, and with no letters in it that a generated name could have been made of. */
const idOf = (position: number): string => `q${String(position).padStart(3, '0')}`;

const differencesOf = (apiCase: ApiCase, answers: readonly Answer[]): string[] =>
  apiCase.exchanges.flatMap((exchange, position) => {
    const asked = 'watch' in exchange ? `WATCH ${exchange.watch}` : 'method' in exchange ? `${exchange.method} ${exchange.path}` : '';
    const label = `#${position} ${asked}${exchange.note === undefined ? '' : ` (${exchange.note})`}`;
    return differences(expectedForm(exchange), answers[position]).map((line) => `${label}: ${line}`);
  });
