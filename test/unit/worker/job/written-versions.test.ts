import { describe, expect, test } from 'vitest';
import { createWrittenVersions } from '../../../../worker/job/written-versions.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const job = (uid: string, namespace = 'ns') => ({ uid, namespace });

function aGuard(cache: { jobs: string; pods: string }) {
  const clock = new FakeClock();
  return { clock, guard: createWrittenVersions(clock, (resource) => cache[resource]) };
}

describe('the guard against a cache that is behind', () => {
  test('holds a Job until the cache has reached what was written', () => {
    const cache = { jobs: '90', pods: '90' };
    const { guard } = aGuard(cache);
    guard.record('a', 'jobs', '100');
    guard.record('a', 'pods', '95');
    guard.record('a', 'pods', '94');
    expect(guard.behind(job('a'))).toEqual(['jobs', 'pods']);
    expect(guard.behind(job('b'))).toEqual([]);
    cache.pods = '95';
    expect(guard.behind(job('a'))).toEqual(['jobs']);
    cache.jobs = '101';
    expect(guard.behind(job('a'))).toEqual([]);
    cache.jobs = '1';
    expect(guard.behind(job('a'))).toEqual([]);
  });

  test('asks how far the cache is where the Job is, because each namespace may be watched from a place of its own', () => {
    const guard = createWrittenVersions(new FakeClock(), (_resource, namespace) => (namespace === 'ahead' ? '101' : '99'));
    for (const uid of ['a', 'b']) guard.record(uid, 'pods', '100');
    expect([guard.behind(job('a', 'ahead')), guard.behind(job('b', 'late'))]).toEqual([[], ['pods']]);
  });

  test('compares versions as numbers of any length', () => {
    const { guard } = aGuard({ jobs: '99', pods: '' });
    guard.record('a', 'jobs', '100');
    expect(guard.behind(job('a'))).toEqual(['jobs']);
    guard.record('b', 'jobs', '9');
    expect(guard.behind(job('b'))).toEqual([]);
  });

  test('lets pass what cannot be compared', () => {
    const { guard } = aGuard({ jobs: '', pods: 'x' });
    guard.record('a', 'jobs', '100');
    guard.record('a', 'pods', '100');
    guard.record('a', 'jobs', 'abc');
    guard.record('a', 'jobs', undefined);
    expect(guard.behind(job('a'))).toEqual([]);
  });

  test('gives up after five minutes, as when the server was restored from an old backup', async () => {
    const { clock, guard } = aGuard({ jobs: '10', pods: '10' });
    guard.record('a', 'jobs', '100');
    await clock.advance(5 * 60_000);
    expect(guard.behind(job('a'))).toEqual(['jobs']);
    await clock.advance(1);
    expect(guard.behind(job('a'))).toEqual([]);
  });

  test('counts the five minutes from the last write', async () => {
    const { clock, guard } = aGuard({ jobs: '10', pods: '10' });
    guard.record('a', 'jobs', '100');
    await clock.advance(4 * 60_000);
    guard.record('a', 'pods', '101');
    await clock.advance(4 * 60_000);
    expect(guard.behind(job('a'))).toEqual(['jobs', 'pods']);
  });
});
