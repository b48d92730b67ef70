import { expect, test } from 'vitest';
import { LATE_WRITE_MS } from '../../../../../manager/dispatch/mirror/unanswered-writes.ts';
import { createHomeHistory } from '../../../../../manager/dispatch/lease/home-history.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

function aHome(known: string, version: string, clusters: Record<string, 'Shown' | 'Dark' | 'GivenUp'>) {
  const world = {
    known,
    version,
    clusters: new Map(Object.entries(clusters)),
    answers: true,
    asked: 0,
    unanswered: 0,
    missing: [] as (readonly string[])[],
    turns: 0,
  };
  const clock = new FakeClock();
  const history = createHomeHistory({
    clock,
    known: () => world.known,
    async ask() {
      world.asked++;
      if (!world.answers) throw new Error('connection lost');
      return world.version;
    },
    clusters: () => [...world.clusters].map(([name, is]) => ({ name, shown: is === 'Shown', givenUp: is === 'GivenUp' })),
    onUnanswered: () => world.unanswered++,
    onMissing: (missing) => world.missing.push(missing),
    onProblemChanged: () => world.turns++,
  });
  const settle = (): Promise<boolean> => history.settle(new AbortController().signal);
  const lateWritesAreOver = (): Promise<void> => clock.advance(LATE_WRITE_MS);
  return { world, history, settle, lateWritesAreOver };
}

test('nothing is asked while clusters tell of nothing newer than our own caches have seen', async () => {
  const { world, history, settle } = aHome('100', '100', { a: 'Dark' });
  history.takeStoredVersion('');
  history.takeStoredVersion('90');
  history.takeStoredVersion('100');
  expect(await settle()).toBe(true);
  expect([world.asked, history.problem(), history.versionToStore()]).toEqual([0, undefined, '100']);
});

test('caches that lag are no restore: our home is asked once, and clusters keep what they had', async () => {
  const { world, history, settle } = aHome('100', '130', { a: 'Dark', b: 'Dark' });
  history.takeStoredVersion('120');
  expect(history.versionToStore()).toBe('120');
  expect(await Promise.all([settle(), settle()])).toEqual([true, true]);
  expect(await settle()).toBe(true);
  expect([world.asked, history.problem(), history.versionToStore()]).toEqual([1, undefined, '120']);
  world.known = '140';
  expect(history.versionToStore()).toBe('140');
});

test('a home that knows less than a cluster was told was restored: nothing is set going until each cluster has been seen, or was given up', async () => {
  const { world, history, settle, lateWritesAreOver } = aHome('100', '105', { a: 'Dark', b: 'Dark', c: 'Dark' });
  history.takeStoredVersion('120');
  expect(await settle()).toBe(true);
  await lateWritesAreOver();
  expect(history.problem()).toEqual({ reason: 'HomeRestored', message: expect.stringContaining('not seen yet: "a", "b", "c" (') });
  world.clusters.set('b', 'Shown');
  history.clustersChanged();
  // What was seen once was seen.
  world.clusters.set('b', 'Dark');
  history.clustersChanged();
  expect(history.problem()?.message).toContain('not seen yet: "a", "c" (');
  world.clusters.delete('c');
  world.clusters.set('a', 'GivenUp');
  history.clustersChanged();
  expect(history.problem()).toBeUndefined();
  expect(world.missing.at(-1)).toEqual([]);
  expect(world.turns).toBe(3);
});

test('a cluster that shows what it has at once counts as seen when nothing of the leader before can arrive there any more', async () => {
  const { world, history, settle, lateWritesAreOver } = aHome('100', '105', { a: 'Shown', b: 'Shown' });
  history.takeStoredVersion('120');
  await settle();
  history.clustersChanged();
  expect(history.problem()?.message).toContain('not seen yet: "a", "b" (');
  await lateWritesAreOver();
  expect([history.problem(), world.missing.at(-1), world.turns]).toEqual([undefined, [], 2]);
});

test('while not all were seen clusters keep more than our home comes to, for whoever leads next; then what is so', async () => {
  const { world, history, settle, lateWritesAreOver } = aHome('100', '105', { a: 'Dark' });
  history.takeStoredVersion('120');
  await settle();
  await lateWritesAreOver();
  world.known = '500';
  const told = history.versionToStore();
  expect(told).toBe('100500');
  const next = aHome('500', '90000', { a: 'Dark' });
  next.history.takeStoredVersion(told);
  await next.settle();
  expect(next.history.problem()?.reason).toBe('HomeRestored');
  // What a cluster was told once and shows much later counts for nothing.
  const later = aHome('110000', '110000', { a: 'Dark' });
  later.history.takeStoredVersion(told);
  await later.settle();
  expect(later.history.problem()).toBeUndefined();
  world.clusters.set('a', 'Shown');
  history.clustersChanged();
  expect(history.versionToStore()).toBe('500');
  // What was told before that is over.
  history.takeStoredVersion(told);
  await settle();
  expect([world.asked, history.problem()]).toEqual([1, undefined]);
});

test('a home that does not answer settles nothing, and is asked again', async () => {
  const { world, history, settle } = aHome('100', '105', { a: 'Dark' });
  world.answers = false;
  history.takeStoredVersion('120');
  expect(await settle()).toBe(false);
  expect([world.unanswered, history.problem()]).toEqual([1, undefined]);
  world.answers = true;
  expect(await settle()).toBe(true);
  expect(history.problem()?.reason).toBe('HomeRestored');
});

test('what is told while our home is being asked is asked for anew', async () => {
  const { world, history, settle } = aHome('100', '125', { a: 'Dark' });
  history.takeStoredVersion('120');
  const first = settle();
  history.takeStoredVersion('130');
  await first;
  expect(world.asked).toBe(2);
  expect(history.problem()?.reason).toBe('HomeRestored');
});

test('of many clusters a few are named', async () => {
  const { history, settle } = aHome('1', '1', Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, 'Dark'])));
  history.takeStoredVersion('2');
  await settle();
  expect(history.problem()?.message).toContain('"e" and 2 more');
});
