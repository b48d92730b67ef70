/** Goal: an informer notices that its server went back in time, and can be made sure to be as far as its server is. */
import { describe, expect, test } from 'vitest';
import { createRevisionTracker } from '../../../../shared/kube/revision-tracker.ts';
import { aWorld, cached, lists, questions, watches, type World } from './informer-world.ts';

describe('a server that goes back in time, restored from an older backup,', () => {
  test('is listed anew as soon as it answers: the cache is as the server is, and handlers hear of it', async () => {
    const errors: string[] = [];
    const world = aWorld({ onWentBack: ({ message }) => errors.push(message) });
    for (const name of ['kept', 'changed', 'deleted since']) world.api.put(name);
    await world.start();
    const restore = world.api.backup();
    world.api.put('changed');
    world.api.remove('deleted since');
    world.api.put('made since');
    await world.clock.advance(5_000);
    world.seen.length = 0;
    restore();
    await world.clock.advance(5_000);
    expect(cached(world.informer)).toEqual(['changed', 'deleted since', 'kept']);
    expect(world.seen.toSorted()).toEqual(
      ['added deleted since uid-3', 'deleted made since uid-4 unseen', 'updated changed 104->102', 'updated kept 101->101'].toSorted(),
    );
    expect(world.informer.lastResourceVersion()).toBe('103');
    expect(errors).toEqual(['the resourceVersion of pods went back from 106 to 103, as after a restore from an older backup']);
    world.api.put('new');
    await world.clock.settle();
    expect(cached(world.informer)).toContain('new');
  });

  test('is noticed also when it has ended the watch in order, and when it has gone on for a while since', async () => {
    const world = aWorld();
    await world.start();
    const restore = world.api.backup();
    for (let count = 0; count < 10; count++) world.api.put('a');
    await world.clock.advance(5_000);
    world.api.cutWatches();
    restore();
    for (let count = 0; count < 9; count++) world.api.put('b');
    await world.clock.advance(5_000);
    expect(cached(world.informer)).toEqual(['b']);
  });

  test('may give a version of old to another state of an object, which is not taken for the one that is known', async () => {
    const world = aWorld();
    await world.start();
    const restore = world.api.backup();
    world.api.put('a', { app: 'old' });
    world.api.put('b');
    await world.clock.settle();
    restore();
    world.api.put('a', { app: 'new' });
    await world.clock.advance(5_000);
    expect(world.informer.get({ namespace: 'ns', name: 'a' })?.metadata).toMatchObject({ resourceVersion: '101', labels: { app: 'new' } });
  });

  test('is listed anew when its watch has said nothing for minutes, however far it has come since', async () => {
    const world = aWorld({ course: createRevisionTracker() });
    await world.start();
    const restore = world.api.backup('Left');
    for (let count = 0; count < 10; count++) world.api.put('a');
    await world.clock.settle();
    restore();
    for (let count = 0; count < 20; count++) world.api.put('b');
    await world.clock.advance(140_000);
    expect(cached(world.informer)).toEqual(['b']);
  });

  test('is noticed where another cache has seen that it was further, although it has been as busy since as before', async () => {
    const course = createRevisionTracker();
    const errors: string[] = [];
    const world = aWorld({ course, onWentBack: ({ message }) => errors.push(message) });
    await world.start();
    const restore = world.api.backup();
    for (let count = 0; count < 10; count++) world.api.put('a');
    await world.clock.settle();
    restore();
    course.compared('101', course.highest());
    await world.clock.settle();
    expect(errors).toEqual(['the resourceVersion of pods went back from 110 to 100, as after a restore from an older backup']);
    for (let count = 0; count < 10; count++) world.api.put('b');
    await world.clock.advance(5_000);
    expect(cached(world.informer)).toEqual(['b']);
  });

  test('is listed anew, and no more is said of it, where another cache has seen other versions and this one has lost nothing', async () => {
    const course = createRevisionTracker();
    const errors: string[] = [];
    const world = aWorld({ course, onWentBack: ({ message }) => errors.push(message) });
    world.api.put('a');
    await world.start();
    course.observed('1000');
    course.compared('900', course.highest());
    await world.clock.settle();
    expect({ lists: lists(world).length, watches: watches(world).length, errors }).toEqual({ lists: 2, watches: 2, errors: [] });
  });

  test('is told to all caches of it by the one that asks how far it is', async () => {
    const course = createRevisionTracker();
    let told = 0;
    course.onRewind(() => told++);
    const world = aWorld({ course });
    world.api.put('a');
    await world.start();
    course.observed('1000');
    world.api.cutWatches();
    await world.clock.advance(5_000);
    expect({ told, lists: lists(world).length }).toEqual({ told: 1, lists: 2 });
  });

  test('is noticed by events that are older than those before', async () => {
    const world = aWorld();
    for (const name of ['a', 'b']) world.api.put(name);
    await world.start();
    const old = { metadata: { name: 'b', namespace: 'ns', uid: 'uid-2', resourceVersion: '50' } };
    world.api.sendRaw(`${JSON.stringify({ type: 'DELETED', object: old })}\n`);
    await world.clock.advance(5_000);
    expect(cached(world.informer)).toEqual(['a', 'b']);
    expect(lists(world)).toHaveLength(2);
  });

  test('costs those that do not one question for each watch that broke, and none where watches end in their time', async () => {
    const world = aWorld();
    await world.start();
    world.api.cutWatches(new Error('connection reset'));
    await world.clock.advance(5_000);
    expect(questions(world)).toHaveLength(1);
    for (let watch = 0; watch < 5; watch++) {
      const seconds = Number(/timeoutSeconds=(\d+)/.exec(watches(world).at(-1) ?? '')?.[1]);
      for (let left = seconds; left > 0; left -= 60) {
        await world.clock.advance(Math.min(60, left) * 1_000);
        world.api.bookmark();
      }
      world.api.cutWatches();
      await world.clock.settle();
    }
    expect(watches(world)).toHaveLength(7);
    expect(questions(world)).toHaveLength(1);
    expect(lists(world)).toHaveLength(1);
  });
});

describe('who wants to catch up', () => {
  const caughtUp = (world: World): (() => boolean) => {
    let done = false;
    void world.informer.catchUp(new AbortController().signal).then(() => (done = true));
    return () => done;
  };

  test('has what a watch that is held up somewhere did not bring, and no more is sent again', async () => {
    const world = aWorld();
    world.api.put('a');
    await world.start();
    world.api.holdWatches();
    world.api.put('b');
    await world.clock.advance(60_000);
    expect(cached(world.informer)).toEqual(['a']);
    const done = caughtUp(world);
    await world.clock.settle();
    expect(done()).toBe(true);
    expect(cached(world.informer)).toEqual(['a', 'b']);
    expect(lists(world)).toHaveLength(1);
    expect(watches(world).at(-1)).toContain('resourceVersion=101&timeoutSeconds=3');
  });

  test('does not wait where nothing has happened', async () => {
    const world = aWorld();
    world.api.put('a');
    await world.start();
    const done = caughtUp(world);
    await world.clock.settle();
    expect(done()).toBe(true);
    expect(lists(world)).toHaveLength(1);
  });

  test('waits for the bookmark where only other resources have changed', async () => {
    const world = aWorld();
    await world.start();
    world.api.touch();
    const done = caughtUp(world);
    await world.clock.advance(900);
    expect(done()).toBe(false);
    world.api.bookmark();
    await world.clock.settle();
    expect(done()).toBe(true);
    expect(lists(world)).toHaveLength(1);
  });

  test('does not open another watch where the one that was opened for it has its bookmark before it', async () => {
    const world = aWorld();
    await world.start();
    world.informer.willCatchUp();
    await world.clock.advance(700);
    expect(watches(world).at(-1)).toContain('timeoutSeconds=3');
    world.api.put('a');
    world.api.touch();
    const done = caughtUp(world);
    await world.clock.advance(200);
    expect(done()).toBe(false);
    world.api.bookmark();
    await world.clock.settle();
    expect({ done: done(), watches: watches(world).length, lists: lists(world).length }).toEqual({ done: true, watches: 2, lists: 1 });
    expect(cached(world.informer)).toEqual(['a']);
  });

  test('opens one itself where the bookmark of that one may have come already', async () => {
    const world = aWorld();
    await world.start();
    world.informer.willCatchUp();
    await world.clock.advance(1_000);
    world.api.bookmark();
    world.api.touch();
    const done = caughtUp(world);
    await world.clock.advance(900);
    expect({ done: done(), watches: watches(world).length }).toEqual({ done: false, watches: 3 });
    world.api.bookmark();
    await world.clock.settle();
    expect({ done: done(), lists: lists(world).length }).toEqual({ done: true, lists: 1 });
  });

  test('opens one itself where the server does not say in time how far it is', async () => {
    const world = aWorld();
    await world.start();
    world.informer.willCatchUp();
    await world.clock.advance(700);
    world.api.put('a');
    world.api.failNext(new Error('connection reset'));
    const done = caughtUp(world);
    await world.clock.settle();
    expect(watches(world)).toHaveLength(3);
    world.api.bookmark();
    await world.clock.settle();
    expect(done()).toBe(true);
  });

  test('watches again at once where the answer to its question comes after the bookmark, which may be older', async () => {
    const world = aWorld();
    await world.start();
    const send = world.api.send.bind(world.api);
    const asked = Promise.withResolvers<void>();
    world.api.send = async (request) => {
      if (/[?&]limit=1(&|$)/.test(request.path)) await asked.promise;
      return send(request);
    };
    const done = caughtUp(world);
    await world.clock.advance(1_000);
    world.api.bookmark();
    world.api.touch();
    await world.clock.advance(200);
    asked.resolve();
    await world.clock.settle();
    expect({ done: done(), watches: watches(world).length }).toEqual({ done: false, watches: 3 });
    await world.clock.advance(1_000);
    world.api.bookmark();
    await world.clock.settle();
    expect({ done: done(), watches: watches(world).length, lists: lists(world).length }).toEqual({ done: true, watches: 3, lists: 1 });
  });

  test('has a new list made where no bookmarks come', async () => {
    const world = aWorld();
    await world.start();
    world.api.touch();
    const done = caughtUp(world);
    await world.clock.advance(14_000);
    expect(done()).toBe(false);
    await world.clock.advance(2_000);
    expect(done()).toBe(true);
    expect(lists(world)).toHaveLength(2);
  });

  test('is done by a list that begins afterwards, however busy the server is with other resources', async () => {
    const world = aWorld();
    await world.start();
    // Its place is forgotten: a list is due after a pause.
    world.api.put('a');
    world.api.holdWatches();
    world.api.put('b');
    world.api.compact();
    world.api.cutWatches();
    await world.clock.settle();
    expect(cached(world.informer)).toEqual(['a']);
    const send = world.api.send.bind(world.api);
    world.api.send = (request) => {
      world.api.touch();
      return send(request);
    };
    const done = caughtUp(world);
    await world.clock.settle();
    expect(done()).toBe(true);
    expect(cached(world.informer)).toEqual(['a', 'b']);
    expect(lists(world)).toHaveLength(2);
  });

  test('is not done by a list that began before', async () => {
    const world = aWorld();
    world.api.put('a');
    const answer = Promise.withResolvers<void>();
    const send = world.api.send.bind(world.api);
    world.api.send = async (request) => {
      const listed = await send(request);
      await answer.promise;
      return listed;
    };
    await world.start();
    const done = caughtUp(world);
    world.api.put('b');
    world.api.send = send;
    answer.resolve();
    await world.clock.settle();
    expect(done()).toBe(true);
    expect(cached(world.informer)).toEqual(['a', 'b']);
  });

  test('is told when it is too late', async () => {
    const world = aWorld();
    const gone = new AbortController();
    const catching = world.informer.catchUp(gone.signal);
    gone.abort(new Error('the leader stops'));
    await expect(catching).rejects.toThrow('the leader stops');
  });

  test('does not wait for the pause after a failure', async () => {
    const world = aWorld();
    await world.start();
    world.api.failNext(...Array.from({ length: 7 }, () => new Error('connect ECONNREFUSED')));
    world.api.cutWatches(new Error('connection reset'));
    while (watches(world).length < 8) await world.clock.advance(1_000);
    world.api.put('a');
    const done = caughtUp(world);
    await world.clock.advance(10);
    expect(done()).toBe(true);
  });
});

test('how long nothing was heard of the server is known: events, bookmarks and lists count', async () => {
  const world = aWorld();
  await world.start();
  const quietMs = (): number => world.clock.monotonic() - world.informer.lastHeardMs();
  await world.clock.advance(50_000);
  expect(quietMs()).toBe(50_000);
  world.api.bookmark();
  await world.clock.settle();
  expect(quietMs()).toBe(0);
  await world.clock.advance(30_000);
  world.api.put('a');
  await world.clock.settle();
  expect(quietMs()).toBe(0);
});
