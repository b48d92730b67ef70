import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { report } from '../../../../manager/cli/report.ts';
import type { Output, Session } from '../../../../manager/cli/session.ts';

function sessionOf(): { readonly session: Session; readonly written: string[] } {
  const written: string[] = [];
  const output: Output = { write: async (text) => void written.push(text), isTerminal: false, width: 80, colours: false };
  return {
    session: { output, errors: output, input: Readable.from([]), environment: {}, signal: AbortSignal.abort(), now: () => 0 },
    written,
  };
}

test('people read lines, programs a document', async () => {
  const { session, written } = sessionOf();
  const what = { lines: ['a held', 'b held'], value: { jobs: ['a', 'b'] } };
  for (const form of ['text', 'json', 'yaml'] as const) await report(session, form, what);
  expect(written[0]).toBe('a held\nb held\n');
  expect(JSON.parse(written[1] ?? '')).toEqual(what.value);
  expect(parse(written[2] ?? '')).toEqual(what.value);
});
