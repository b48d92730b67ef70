import { describe, expect, test } from 'vitest';
import { clusterWishOf, fencingOf, priorityOf, queueNameOf } from '../../../../manager/api/job-annotations.ts';
import {
  FENCING_ANNOTATION,
  CLUSTERS_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../../../shared/api/names.ts';
import { matchesLabelSelector } from '../../../../shared/kube/selectors.ts';

describe('the queue of a Job', () => {
  const queue = (labels?: Record<string, string>) => queueNameOf({ metadata: labels === undefined ? {} : { labels } });
  test('is named by our label, and by Kueue’s where ours is absent', () => {
    expect(queue({ [QUEUE_NAME_LABEL]: 'ours', [KUEUE_QUEUE_NAME_LABEL]: 'kueue' })).toBe('ours');
    expect(queue({ [KUEUE_QUEUE_NAME_LABEL]: 'kueue' })).toBeUndefined();
  });
  test('is none without a label, or with an empty one', () => {
    expect(queue()).toBeUndefined();
    expect(queue({ app: 'x' })).toBeUndefined();
    expect(queue({ [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'kueue' })).toBeUndefined();
  });
});

describe('the priority of a Job', () => {
  const priority = (text?: string) => priorityOf({ metadata: text === undefined ? {} : { annotations: { [PRIORITY_ANNOTATION]: text } } });
  test.each([
    ['0', 0],
    ['100', 100],
    ['-5', -5],
    ['007', 7],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
  ])('%s is read', (text, value) => {
    expect(priority(text)).toEqual({ kind: 'Priority', value });
  });
  test('is 0 when nothing is said', () => {
    expect(priority()).toEqual({ kind: 'Priority', value: 0 });
  });
  test.each(['', ' 1', '1.5', '1e3', '+1', '0x10', 'high', '2147483648', '-2147483649', '99999999999999999999'])(
    '%j is refused',
    (text) => {
      expect(priority(text)).toEqual({
        kind: 'Invalid',
        annotation: PRIORITY_ANNOTATION,
        problem: `is ${JSON.stringify(text)}; it must be a 32-bit integer such as "100"`,
      });
    },
  );
});

describe('the clusters a Job may run on', () => {
  const wish = (text?: string) => clusterWishOf({ metadata: text === undefined ? {} : { annotations: { [CLUSTERS_ANNOTATION]: text } } });
  const selects = (text: string, labels: Record<string, string>): boolean => {
    const read = wish(text);
    if (read.kind !== 'Selector') throw new Error(`a wish of kind ${read.kind}`);
    return matchesLabelSelector(read.requirements, labels);
  };

  test('are any when nothing is said', () => {
    expect(wish()).toEqual({ kind: 'Any' });
  });
  test.each([
    ['eu-1', ['eu-1']],
    [' eu-1 , us-2.example.com', ['eu-1', 'us-2.example.com']],
  ])('%j names clusters', (text, names) => {
    expect(wish(text)).toEqual({ kind: 'Names', names });
  });
  test('are chosen by a selector when it is more than words', () => {
    expect(selects('region=eu', { region: 'eu' })).toBe(true);
    expect(selects('region=eu', { region: 'us' })).toBe(false);
    expect(selects('region in (eu, us), !spot', { region: 'us' })).toBe(true);
    expect(selects('region in (eu, us), !spot', { region: 'us', spot: '' })).toBe(false);
  });
  test('must not be left empty', () => {
    for (const text of ['', '  '])
      expect(wish(text)).toMatchObject({ kind: 'Invalid', annotation: CLUSTERS_ANNOTATION, problem: expect.stringMatching(/^is empty; /) });
  });
  test.each(['region in', 'a=b=c', 'eu-1,', '(', 'eu_1!'])('%j is neither names nor a selector', (text) => {
    expect(wish(text)).toMatchObject({
      kind: 'Invalid',
      annotation: CLUSTERS_ANNOTATION,
      problem: expect.stringMatching(/^is neither a list of cluster names nor a label selector: ./),
    });
  });
});

describe('the fencing of a Job', () => {
  const job = (text?: string) => ({ metadata: text === undefined ? {} : { annotations: { [FENCING_ANNOTATION]: text } } });
  test('is what it says, if it says something', () => {
    expect([undefined, 'on', 'off'].map((text) => fencingOf(job(text)))).toEqual(
      [undefined, true, false].map((fenced) => ({ kind: 'Fencing', fenced })),
    );
  });
  test('that cannot be read is told of, with the remedy', () => {
    expect(fencingOf(job('no'))).toEqual({
      kind: 'Invalid',
      annotation: FENCING_ANNOTATION,
      problem: 'is "no"; it must be "on" or "off", or be removed',
    });
  });
});
