import { describe, expect, test } from 'vitest';
import { formatEndedPods, parseEndedPods, type EndedPod } from '../../../../shared/api/ended-pods.ts';

const failed = (k: number, more: Partial<EndedPod> = {}): EndedPod => ({ pod: `sum-${k}`, phase: 'Failed', exitCode: 1, ...more });
const written = (pods: readonly EndedPod[]): readonly EndedPod[] => parseEndedPods(formatEndedPods([], pods));

describe('what is kept of the pods of a Job', () => {
  test('comes back as it was written, and later word of a pod adds to earlier', () => {
    const first = written([failed(1, { index: 0, node: 'n' })]);
    expect(first).toEqual([failed(1, { index: 0, node: 'n' })]);
    expect(parseEndedPods(formatEndedPods(first, [failed(1, { lastLine: 'no such file', tail: true })]))).toEqual([
      failed(1, { index: 0, node: 'n', lastLine: 'no such file', tail: true }),
    ]);
  });

  test('are the first ten that failed, the last forty of them, and the last ten others', () => {
    const pods = Array.from({ length: 200 }, (_, k): EndedPod => (k % 2 === 0 ? failed(k) : { pod: `sum-${k}`, phase: 'Succeeded' }));
    const kept = written(pods);
    expect(kept.filter(({ phase }) => phase === 'Failed').map(({ pod }) => pod)).toEqual(
      [...Array.from({ length: 10 }, (_, k) => 2 * k), ...Array.from({ length: 40 }, (_, k) => 120 + 2 * k)].map((k) => `sum-${k}`),
    );
    expect(kept.filter(({ phase }) => phase !== 'Failed').map(({ pod }) => pod)).toEqual(
      Array.from({ length: 10 }, (_, k) => `sum-${181 + 2 * k}`),
    );
  });

  test('takes no more than 32 KiB, and the first that failed is among it', () => {
    const wide = '語'.repeat(160);
    const text = formatEndedPods(
      [],
      Array.from({ length: 60 }, (_, k) => failed(k, { message: wide, lastLine: wide })),
    );
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
    const kept = parseEndedPods(text).map(({ pod }) => pod);
    expect(kept.length).toBeGreaterThan(20);
    expect([kept[0], kept.at(-1)]).toEqual(['sum-0', 'sum-59']);
  });
});

describe('an annotation that somebody else has written', () => {
  test.each([
    ['nothing', undefined],
    ['no JSON', '[{'],
    ['no list', '{"pod":"a","phase":"Failed"}'],
    ['things of another kind', '[1, null, "pod", [], {"pod": 1, "phase": "Failed"}, {"pod": "a", "phase": "Happy"}, {"phase": "Failed"}]'],
    ['more than a worker writes', JSON.stringify([{ pod: 'a', phase: 'Failed', node: 'x'.repeat(40_000) }])],
  ])('that is %s tells nothing', (_, text) => {
    expect(parseEndedPods(text)).toEqual([]);
  });

  test('tells what can be read of it, bounded', () => {
    const text = JSON.stringify([
      { pod: 'a', phase: 'Failed', exitCode: 'three', node: 'x'.repeat(254), lastLine: 'y'.repeat(161), tail: 'yes', more: 1, index: 1.5 },
      ...Array.from({ length: 300 }, (_, k) => ({ pod: `p${k}`, phase: 'Failed' })),
    ]);
    const read = parseEndedPods(text);
    expect(read[0]).toEqual({ pod: 'a', phase: 'Failed' });
    expect(read).toHaveLength(50);
  });
});
