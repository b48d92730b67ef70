import { describe, expect, test } from 'vitest';
import { judgeIdentities, type KnownCluster } from '../../../../../manager/dispatch/cluster/cluster-identities.ts';

const HOME = 'uid-home';
const cluster = (name: string, parts: Partial<KnownCluster> = {}): KnownCluster => ({
  name,
  createdAt: '2026-01-01T00:00:00Z',
  local: false,
  recorded: undefined,
  read: undefined,
  ...parts,
});
const LATER = { createdAt: '2026-01-02T00:00:00Z' };
const reasons = (...clusters: KnownCluster[]): Record<string, string> =>
  Object.fromEntries([...judgeIdentities(clusters, HOME)].map(([name, { reason }]) => [name, reason]));
const messageFor = (name: string, ...clusters: KnownCluster[]): string | undefined => judgeIdentities(clusters, HOME).get(name)?.message;

test('clusters that are different ones may all be used, and nothing is said of those that have not been read', () => {
  expect(
    reasons(cluster('a', { read: '1', recorded: '1' }), cluster('b', { read: '2' }), cluster('c'), cluster('d', { recorded: '4' })),
  ).toEqual({});
});

describe('two WorkerClusters for one cluster', () => {
  test('leave it to the older one, whatever their names, and name it to the other', () => {
    const [older, newer] = [cluster('b', { read: '1' }), cluster('a', { read: '1', ...LATER })];
    expect(reasons(newer, older)).toEqual({ a: 'DuplicateCluster' });
    expect(messageFor('a', newer, older)).toMatch(/^WorkerCluster "b" has the same cluster \(UID 1 .*delete one of the two/);
  });

  test('of one age leave it to the first by name, in whatever order they are known', () => {
    const [a, b] = [cluster('a', { read: '1' }), cluster('b', { read: '1' })];
    expect([reasons(a, b), reasons(b, a)]).toEqual([{ b: 'DuplicateCluster' }, { b: 'DuplicateCluster' }]);
  });

  test('leave it to the one that has been used with it, though the other is older', () => {
    expect(reasons(cluster('old', { read: '1' }), cluster('new', { read: '1', recorded: '1', ...LATER }))).toEqual({
      old: 'DuplicateCluster',
    });
  });

  test('leave it to the one that has been used with it, though it cannot be reached now, or has come to lead elsewhere', () => {
    const one = cluster('one', { read: '1' });
    expect(reasons(one, cluster('away', { recorded: '1', ...LATER }))).toEqual({ one: 'DuplicateCluster' });
    expect(reasons(one, cluster('moved', { recorded: '1', read: '2', ...LATER }))).toEqual({
      one: 'DuplicateCluster',
      moved: 'ClusterChanged',
    });
  });

  test('and three: when the first is gone, the next has it', () => {
    const [b, c] = [cluster('b', { read: '1' }), cluster('c', { read: '1' })];
    expect(reasons(cluster('a', { read: '1', recorded: '1' }), b, c)).toEqual({ b: 'DuplicateCluster', c: 'DuplicateCluster' });
    expect(reasons(b, c)).toEqual({ c: 'DuplicateCluster' });
  });
});

test('a cluster that has become another one must not be used, and says both and what to do', () => {
  const changed = cluster('a', { recorded: '1', read: '2' });
  expect(messageFor('a', changed)).toMatch(/UID 1, .* UID 2; correct the Secret .* delete this WorkerCluster and create it again/);
  expect(reasons(changed, cluster('b', { read: '2' }))).toEqual({ a: 'ClusterChanged' });
});

test('the manager’s own cluster is used as local, and never through a kubeconfig, whichever was there first', () => {
  const [here, there] = [cluster('here', { local: true, read: HOME, ...LATER }), cluster('there', { read: HOME })];
  expect(reasons(there, here)).toEqual({ there: 'OwnCluster' });
  expect(reasons(there)).toEqual({ there: 'OwnCluster' });
  expect(messageFor('there', there)).toMatch(/set local: true/);
  expect(reasons(here, cluster('again', { local: true, read: HOME }))).toEqual({ here: 'DuplicateCluster' });
  expect(reasons(cluster('moved', { recorded: '1', read: HOME }))).toEqual({ moved: 'OwnCluster' });
});
