import { describe, expect, test } from 'vitest';
import {
  findJobs,
  foundKey,
  isFound,
  pageOf,
  parseJobQuery,
  type JobQuery,
  type JobLookups,
} from '../../../../manager/dashboard/job-query.ts';
import type { Seen } from '../../../../manager/dashboard/rights.ts';
import type { JobLine, JobPage } from '../../../../manager/dashboard/views.ts';
import { aLine } from './lines.ts';

const query = (text: string): JobQuery => {
  const parsed = parseJobQuery(new URLSearchParams(text));
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed;
};
const jobPage = (lines: readonly JobLine[], asked: JobQuery, namespaces: Seen, lookups: JobLookups): JobPage => {
  const steps = findJobs(lines, asked, namespaces, lookups);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return pageOf(step.value, asked);
  }
};
/** The latest first, as they come. */
const LINES = [
  aLine({ key: 'b/train', createdMs: 5, state: 'Running', cluster: 'east', clusterQueue: 'gpu' }),
  aLine({ key: 'a/sum', createdMs: 4, reason: 'InsufficientQuota', why: 'short of 2 CPU' }),
  aLine({ key: 'a/train', createdMs: 3, state: 'Failed', endedMs: 9, cluster: 'west', user: 'oidc:ann' }),
  aLine({ key: 'c/other', createdMs: 2, state: 'Complete', endedMs: 7 }),
];
const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'b/train': { team: 'red', 'a/x': 'a=b' },
  'a/sum': { team: 'blue' },
};
const labelsOf = ({ key }: { readonly key: string }): Readonly<Record<string, string>> => LABELS[key] ?? {};
/** LocalQueue a/main leads to ClusterQueue cpu. */
const LOOKUPS: JobLookups = { labelsOf, clusterQueueOf: (localQueue) => (localQueue === 'a/main' ? 'cpu' : undefined) };
const keys = (text: string, namespaces: 'All' | ReadonlySet<string> = 'All'): string[] =>
  jobPage(LINES, query(text), namespaces, LOOKUPS).jobs.map(({ key }) => key);

describe('a query for Jobs', () => {
  test('finds by state, queue, cluster, user, reason, namespace and part of the name or of what it says', () => {
    expect(keys('')).toEqual(['b/train', 'a/sum', 'a/train', 'c/other']);
    expect(keys('state=Running,Failed')).toEqual(['b/train', 'a/train']);
    expect(keys('cluster=west')).toEqual(['a/train']);
    expect(keys('user=oidc:ann')).toEqual(['a/train']);
    expect(keys('clusterQueue=gpu')).toEqual(['b/train']);
    expect(keys('state=Waiting&clusterQueue=cpu')).toEqual(['a/sum']);
    expect(keys('state=Waiting&clusterQueue=gpu')).toEqual([]);
    expect(keys('namespace=a&queue=main')).toEqual(['a/sum', 'a/train']);
    expect(keys('reason=InsufficientQuota')).toEqual(['a/sum']);
    expect(keys('text=TRAIN')).toEqual(['b/train', 'a/train']);
    expect(keys('text=cpu')).toEqual(['a/sum']);
  });

  test('finds by a label and its value, and groups by what that label says', () => {
    expect(keys('label=team')).toEqual(['b/train', 'a/sum']);
    expect(keys('label=team%3Dblue')).toEqual(['a/sum']);
    expect(keys('label=a/x%3Da%3Db')).toEqual(['b/train']);
    expect(keys('label=constructor')).toEqual([]);
    expect(jobPage(LINES, query('group=label&label=team'), 'All', LOOKUPS).groups).toEqual([
      { key: 'blue', count: 1 },
      { key: 'red', count: 1 },
    ]);
    expect(parseJobQuery(new URLSearchParams('group=label'))).toEqual({ problem: 'group: label needs label=NAME, by which label' });
  });

  test('finds canaries for who asks for them, and groups by what Jobs wait for', () => {
    const lines = [
      aLine({ key: 'a/switchyard-canary-east', canary: true }),
      aLine({ key: 'a/one', cause: 'short of cpu' }),
      aLine({ key: 'a/two', cause: 'short of cpu' }),
      aLine({ key: 'a/big', state: 'NeverFits', cause: 'more than its quota' }),
    ];
    const found = (text: string): JobPage => jobPage(lines, query(text), 'All', LOOKUPS);
    expect(found('group=cause')).toMatchObject({
      total: 3,
      groups: [
        { key: 'short of cpu', count: 2 },
        { key: 'more than its quota', count: 1 },
      ],
    });
    expect(found('canaries=1').total).toBe(4);
    expect(found('cause=short+of+cpu').total).toBe(2);
    expect(found('state=NeverFits').jobs).toMatchObject([{ key: 'a/big' }]);
  });

  test('groups by who created them', () => {
    expect(jobPage(LINES, query('group=user'), 'All', LOOKUPS).groups).toEqual([
      { key: '', count: 3 },
      { key: 'oidc:ann', count: 1 },
    ]);
  });

  test('has only what the viewer may see, in its count and groups as well', () => {
    const page = jobPage(LINES, query('group=namespace'), new Set(['a']), LOOKUPS);
    expect(page.total).toBe(2);
    expect(page.groups).toEqual([{ key: 'a', count: 2 }]);
    expect(isFound(aLine({ key: 'b/x' }), query(''), new Set(['a']), LOOKUPS)).toBe(false);
  });

  test('is in the order that is asked for, and of that a part', () => {
    expect(keys('order=created')).toEqual(['c/other', 'a/train', 'a/sum', 'b/train']);
    expect(keys('order=name')).toEqual(['a/sum', 'a/train', 'b/train', 'c/other']);
    expect(keys('order=-ended')).toEqual(['a/train', 'c/other', 'b/train', 'a/sum']);
    expect(keys('order=name&offset=1&limit=2')).toEqual(['a/train', 'b/train']);
    expect(jobPage(LINES, query('offset=3'), 'All', LOOKUPS)).toMatchObject({ total: 4, offset: 3, jobs: [{ key: 'c/other' }] });
  });

  test('that makes no sense is told what is wrong with it', () => {
    expect(parseJobQuery(new URLSearchParams('order=color'))).toMatchObject({ problem: expect.stringContaining('order: is none of') });
    expect(parseJobQuery(new URLSearchParams('group=color'))).toMatchObject({ problem: expect.stringContaining('group: is none of') });
    expect(parseJobQuery(new URLSearchParams('limit=100000'))).toMatchObject({ problem: 'limit: is no whole number up to 500' });
    expect(parseJobQuery(new URLSearchParams('offset=-1'))).toMatchObject({ problem: 'offset: is no whole number' });
  });

  test('finds the same as another that asks for another part of it, and as no other', () => {
    const key = (text: string): string => foundKey(query(text));
    expect(key('state=Running,Failed&text=a&offset=100')).toBe(key('text=a&limit=5&state=Failed,Running'));
    expect(
      new Set(['', 'text=a', 'user=a', 'order=name', 'order=-name', 'state=Failed', 'label=a', 'label=a%3Db', 'group=user'].map(key)).size,
    ).toBe(9);
  });
});
