import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { logTailLines, reportedTails } from '../../../../manager/submission/log-tail-lines.ts';
import type { EndedPod } from '../../../../shared/api/ended-pods.ts';
import type { ConfigMap } from '../../../../shared/api/kubernetes.ts';

const pod = (name: string, more: Partial<EndedPod> = {}): EndedPod => ({ pod: name, phase: 'Failed', exitCode: 3, tail: true, ...more });
const map = (logs: Readonly<Record<string, string | Buffer>>): ConfigMap =>
  ({
    metadata: {},
    binaryData: Object.fromEntries(
      Object.entries(logs).map(([name, log]) => [name, (typeof log === 'string' ? gzipSync(log) : log).toString('base64')]),
    ),
  }) as unknown as ConfigMap;

test('of each pod it is told how it ended, and the last lines of its log', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
  const pods = [pod('a', { lastLine: 'line 29' }), pod('b', { phase: 'Succeeded' }), pod('c')];
  const [first, second, ...others] = logTailLines(pods, 'east', map({ a: `${lines}\n`, b: 'fine\n' }));
  expect(first).toMatch(/^pod a ended with exit code 3; the end of its log:\nline 10\nline 11\n.*line 29$/s);
  expect(second).toBe('pod b succeeded; the end of its log:\nfine');
  expect(others).toEqual([]);
});

test('of very many pods the latest are told, and only those of which a log is kept', () => {
  const many = Array.from({ length: 50 }, (_, index) => pod(`p-${index}`));
  expect(reportedTails([...many, pod('none', { tail: false })]).map((each) => each.pod)).toEqual(['p-45', 'p-46', 'p-47', 'p-48', 'p-49']);
});

test('a cluster that makes things up steers no terminal, and has no bomb unpacked', () => {
  const logs = map({
    a: '\u001b[2Jgone\u202e\n',
    b: 'x'.repeat(5_000),
    c: Buffer.from('no gzip'),
    d: gzipSync(Buffer.alloc(64 * 1024 * 1024)),
  });
  const rows = logTailLines([pod('a'), pod('b'), pod('c'), pod('d')], 'east', logs);
  expect(rows.map((row) => row.split('\n')[1])).toEqual([' [2Jgone', `${'x'.repeat(499)}…`]);
  expect(logTailLines([pod('a')], 'east', undefined)).toEqual([]);
  expect(logTailLines([pod('a')], 'east', { metadata: {}, binaryData: { a: 7 } } as unknown as ConfigMap)).toEqual([]);
});
