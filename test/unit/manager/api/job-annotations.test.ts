import { describe, expect, test } from 'vitest';
import {
  clusterWishOf,
  fencingOf,
  podFenceOf,
  maxExecutionOf,
  minParallelismOf,
  priorityOf,
  queueNameOf,
  requestsWishOf,
  unreadableWishes,
  wishesOf,
} from '../../../../manager/api/job-annotations.ts';
import {
  FENCING_ANNOTATION,
  CLUSTERS_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  REQUESTS_ANNOTATION,
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
  test('is none when nothing is said', () => {
    expect(priority()).toEqual({ kind: 'Priority', value: undefined });
  });
  test.each(['', ' 1', '1.5', '1e3', '+1', '0x10', 'high', '2147483648', '-2147483649', '99999999999999999999'])(
    '%j is refused',
    (text) => {
      expect(priority(text)).toEqual({
        kind: 'Invalid',
        problem: `is ${JSON.stringify(text)}; it must be a 32-bit integer such as "100"`,
      });
    },
  );
});

describe('how long a Job may run in all', () => {
  const seconds = (text?: string) => maxExecutionOf({ metadata: text === undefined ? {} : { labels: { [MAX_EXEC_TIME_LABEL]: text } } });
  test('is any time when nothing is said, and a number of seconds', () => {
    expect(seconds()).toEqual({ kind: 'MaxExecution', seconds: undefined });
    expect([seconds('1'), seconds('3600'), seconds('2147483647')]).toEqual(
      [1, 3600, 2_147_483_647].map((each) => ({ kind: 'MaxExecution', seconds: each })),
    );
  });
  test.each(['', '0', '-1', '1.5', '1h', '2147483648'])('%j is refused, and is told with the label', (text) => {
    const problem = `is ${JSON.stringify(text)}; it must be a number of seconds from 1 to 2147483647, such as "3600"`;
    expect(seconds(text)).toEqual({ kind: 'Invalid', problem });
    const job = { metadata: { labels: { [MAX_EXEC_TIME_LABEL]: text }, annotations: { [PRIORITY_ANNOTATION]: '1' } } };
    expect(unreadableWishes(wishesOf(job))).toEqual([{ place: 'labels', name: MAX_EXEC_TIME_LABEL, problem }]);
  });
});

describe('the fewest pods of a Job', () => {
  const fewest = (text?: string) =>
    minParallelismOf({ metadata: text === undefined ? {} : { annotations: { [MIN_PARALLELISM_ANNOTATION]: text } } });
  test('are all of them when nothing is said, and a number', () => {
    expect(fewest()).toEqual({ kind: 'MinParallelism', pods: undefined });
    expect(fewest('12')).toEqual({ kind: 'MinParallelism', pods: 12 });
  });
  test.each(['', '0', '-1', '1.5', 'few', '12345678901'])('%j is refused', (text) => {
    const problem = `is ${JSON.stringify(text)}; it must be a number of pods from 1 on, such as "4"`;
    expect(fewest(text)).toEqual({ kind: 'Invalid', problem });
  });
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
    for (const text of ['', '  ']) expect(wish(text)).toMatchObject({ kind: 'Invalid', problem: expect.stringMatching(/^is empty; /) });
  });
  test.each(['region in', 'a=b=c', 'eu-1,', '(', 'eu_1!'])('%j is neither names nor a selector', (text) => {
    expect(wish(text)).toMatchObject({
      kind: 'Invalid',
      problem: expect.stringMatching(/^is neither a list of cluster names nor a label selector: ./),
    });
  });
});

describe('the pod fence of a Job', () => {
  const job = (text?: string) => ({ metadata: { annotations: text === undefined ? {} : { 'switchyard.dev/pod-fence': text } } });

  test('is asked for by on, done without by off, and left to its queue otherwise', () => {
    expect([undefined, 'on', 'off'].map((text) => podFenceOf(job(text)))).toEqual(
      [undefined, true, false].map((fenced) => ({ kind: 'PodFence', fenced })),
    );
  });

  test('is no other word', () => {
    expect(podFenceOf(job('true'))).toEqual({ kind: 'Invalid', problem: 'is "true"; it must be "on" or "off", or be removed' });
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
      problem: 'is "no"; it must be "on" or "off", or be removed',
    });
  });
});

describe('all that a Job says', () => {
  test('is read once, and what cannot be read is told in one place', () => {
    const reads: string[] = [];
    const annotations = new Proxy<Record<string, string>>(
      { [PRIORITY_ANNOTATION]: 'high', [FENCING_ANNOTATION]: 'no', [CLUSTERS_ANNOTATION]: 'east' },
      {
        get: (target, name) => {
          reads.push(String(name));
          return target[String(name)];
        },
      },
    );
    const wishes = wishesOf({ metadata: { annotations } });
    expect(unreadableWishes(wishes).map(({ place, name }) => `${place} ${name}`)).toEqual([
      `annotations ${PRIORITY_ANNOTATION}`,
      `annotations ${FENCING_ANNOTATION}`,
    ]);
    expect(wishes.clusters).toEqual({ kind: 'Names', names: ['east'] });
    expect(reads.length).toBe(new Set(reads).size);
  });
});

describe('the floating resources of a Job', () => {
  const requests = (text?: string) =>
    requestsWishOf({ metadata: text === undefined ? {} : { annotations: { [REQUESTS_ANNOTATION]: text } } });
  test('are whole numbers by name, for each of its pods', () => {
    expect(requests()).toEqual({ kind: 'Requests', perPod: new Map() });
    expect(requests('matlab=1, db-connections=10')).toEqual({
      kind: 'Requests',
      perPod: new Map([
        ['floating.switchyard.dev/matlab', 1],
        ['floating.switchyard.dev/db-connections', 10],
      ]),
    });
  });
  test.each(['', 'matlab', 'matlab=', 'matlab=-1', 'matlab=1.5', 'matlab=1,matlab=2', 'Matlab=1', 'a/b=1', 'matlab=9999999999'])(
    'cannot be %j',
    (text) => expect(requests(text)).toMatchObject({ kind: 'Invalid', problem: expect.stringContaining('such as "matlab=1,') }),
  );
  test('are sixteen at most', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `r${index}=1`).join(',');
    expect([requests(many(16)).kind, requests(many(17)).kind]).toEqual(['Requests', 'Invalid']);
  });
});
