import { expect, test } from 'vitest';
import { DATA_NAMES_MAX, missingData, nearness, parseDataNames } from '../../../../manager/api/data-names.ts';
import { dataWishOf } from '../../../../manager/api/job-annotations.ts';
import { DATA_ANNOTATION } from '../../../../shared/api/names.ts';

const wish = (text?: string) => dataWishOf({ metadata: text === undefined ? {} : { annotations: { [DATA_ANNOTATION]: text } } });

test('a Job names data sets with commas, and marks those that its cluster must have', () => {
  expect(wish()).toEqual({ kind: 'Data', names: undefined });
  expect(wish('imagenet')).toEqual({ kind: 'Data', names: { preferred: ['imagenet'], required: [] } });
  expect(wish('imagenet, !corpus-v2.1')).toEqual({ kind: 'Data', names: { preferred: ['imagenet'], required: ['corpus-v2.1'] } });
});

test.each(['', 'Imagenet', 'a,,b', 'a,a', 'a,!a', '!', '!!a', 'a b', `${'x'.repeat(64)}`, '-a'])(
  '%j is refused, with what it must be',
  (text) => {
    expect(wish(text)).toEqual({
      kind: 'Invalid',
      problem:
        `is ${JSON.stringify(text)}; it must name at most 16 data sets, each once, ` +
        'with ! before those that the cluster must have, such as "imagenet" or "!corpus,imagenet"',
    });
  },
);

test('more data sets than a Job may name are refused', () => {
  const names = Array.from({ length: DATA_NAMES_MAX + 1 }, (_, index) => `data-${index}`);
  expect(parseDataNames(names.join())).toBeUndefined();
  expect(parseDataNames(names.slice(1).join())?.preferred).toHaveLength(DATA_NAMES_MAX);
});

test('a cluster is as near as the weights of the data that it has, required ones included', () => {
  const names = parseDataNames('a,b,!c');
  const has = (...weights: readonly (readonly [string, number])[]) => weights.map(([name, weight]) => ({ name, weight }));
  expect(nearness(names, has(['a', 2], ['c', 5], ['other', 100]))).toBe(7);
  expect(nearness(names, undefined)).toBe(0);
  expect(nearness(undefined, has(['a', 2]))).toBe(0);
});

test('the first required data set that a cluster lacks is named', () => {
  const names = parseDataNames('a,!b,!c');
  expect(missingData(names, [{ name: 'c', weight: 1 }])).toBe('b');
  expect(missingData(names)).toBe('b');
  expect(
    missingData(names, [
      { name: 'b', weight: 1 },
      { name: 'c', weight: 1 },
    ]),
  ).toBeUndefined();
  expect(missingData(undefined, [])).toBeUndefined();
  expect(missingData(parseDataNames('!constructor'), [])).toBe('constructor');
});
