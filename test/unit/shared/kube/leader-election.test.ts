import { describe, expect, test } from 'vitest';
import type { Lease } from '../../../../shared/api/kubernetes.ts';
import { aWorld } from './election-scene.ts';

test('one of two candidates leads, and the other takes over at once when it steps down', async () => {
  const { clock, leaders, candidate, server } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(60_000);
  expect(leaders).toEqual(['a']);
  expect([first.waits(), second.waits()]).toEqual([false, true]);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 3, leaseTransitions: 0 });
  first.stop();
  await clock.settle();
  await first.ended;
  expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  await clock.advance(6000);
  expect(leaders).toEqual(['b']);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  second.stop();
  await clock.settle();
  await second.ended;
});

test('a candidate expects to lead 0.7 s before the lease of another is over, once, and never while it is renewed', async () => {
  const { clock, candidate, server, leaders, expectedAtMs } = aWorld();
  candidate('a', 1);
  await clock.advance(100);
  candidate('b', 2);
  while (clock.monotonic() < 60_000) await clock.advance(50);
  expect(expectedAtMs).toEqual([]);
  server.cutOff.add('a');
  while (leaders.length < 2) await clock.advance(50);
  expect(expectedAtMs).toHaveLength(1);
  const aheadMs = clock.monotonic() - (expectedAtMs[0] ?? 0);
  expect(aheadMs).toBeGreaterThanOrEqual(650);
  expect(aheadMs).toBeLessThanOrEqual(750);
});

test('a leader gives its lease up though the answer to its last renewal was lost', async () => {
  const { clock, candidate, server } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  server.losesNextAnswer = true;
  await clock.advance(2_000);
  expect(server.losesNextAnswer).toBe(false);
  first.stop();
  await clock.settle();
  await first.ended;
  expect(server.lease?.spec).toMatchObject({ holderIdentity: '' });
});

test('a leader gives up no lease that somebody else has taken', async () => {
  const { clock, candidate, server } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const { metadata, spec } = server.lease ?? {};
  server.lease = { metadata: { ...metadata, resourceVersion: '77' }, spec: { ...spec, holderIdentity: 'b' } } as Lease;
  first.stop();
  await clock.settle();
  await first.ended;
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'b' });
});

test('a leader that is told to stop while nobody answers ends all the same', async () => {
  const { clock, candidate, server } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  server.cutOff.add('a');
  first.stop();
  await clock.advance(2_000);
  await first.ended;
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a' });
});

test('a leader cut off from the server writes nothing from before another one starts, and ends after half a minute', async () => {
  const { clock, log, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(10_000);
  server.cutOff.add('a');
  const writers: string[] = [];
  for (let step = 0; step < 310; step++) {
    await clock.advance(100);
    const now = [await first.mayWrite(), await second.mayWrite()].flatMap((may, index) => (may ? 'ab'.charAt(index) : []));
    expect(now.length).toBeLessThanOrEqual(1);
    const [writer = 'nobody'] = now;
    if (writer !== writers.at(-1)) writers.push(writer);
  }
  expect(writers).toEqual(['a', 'nobody', 'b']);
  expect(log).toEqual(['a leads', 'b leads', 'a stops']);
  await first.ended;
  second.stop();
  await clock.settle();
  await second.ended;
});

test('a candidate that hears of its lease only when that has run out does not lead', async () => {
  const { clock, leaders, log, server, candidate } = aWorld();
  const answer = Promise.withResolvers<void>();
  server.heldAnswers.set('a', answer.promise);
  const first = candidate('a', 1);
  await clock.advance(100);
  expect(server.lease?.spec?.holderIdentity).toBe('a');
  const second = candidate('b', 2);
  await clock.advance(20_000);
  expect(leaders).toEqual(['b']);
  answer.resolve();
  for (let step = 0; step < 100; step++) {
    await clock.advance(100);
    expect(leaders).toEqual(['b']);
  }
  expect(log).toEqual(['b leads']);
  first.stop();
  second.stop();
  await clock.settle();
  await Promise.all([first.ended, second.ended]);
});

test('the time that the answer to a renewal takes is not added to the time that the leader may go on', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(5_200);
  const answer = Promise.withResolvers<void>();
  server.heldAnswers.set('a', answer.promise);
  // The renewal after 5.5 s is answered after 7 s, and nothing is answered after it: writes are sent until 7.5 s, and it has lost after
  // 35.5 s.
  await clock.advance(1_800);
  server.cutOff.add('a');
  answer.resolve();
  await clock.advance(400);
  expect(await first.mayWrite()).toBe(true);
  await clock.advance(200);
  expect(await first.mayWrite()).toBe(false);
  await clock.advance(27_800);
  expect(leaders).toEqual(['a']);
  await clock.advance(200);
  expect(leaders).toEqual([]);
  await first.ended;
});

test('a leader whose server is away for ten seconds leads on, though another one stands by', async () => {
  const { clock, log, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  // Because the first time it was slow to answer, the Lease lasts longer the second time.
  for (const awayMs of [10_000, 2_500, 25_000]) {
    await clock.advance(20_000);
    for (const each of ['a', 'b']) server.cutOff.add(each);
    await clock.advance(awayMs);
    expect([awayMs, await first.mayWrite()]).toEqual([awayMs, awayMs === 2_500]);
    server.cutOff.clear();
  }
  await clock.advance(20_000);
  expect(log).toEqual(['a leads']);
  expect(await first.mayWrite()).toBe(true);
  expect(server.lease?.spec?.leaseTransitions).toBe(0);
  for (const each of [first, second]) each.stop();
  await clock.settle();
  await Promise.all([first.ended, second.ended]);
});

test.each([1_000, 2_400])('a leader that stands still for %i ms leads on', async (stalledMs) => {
  const { clock, log, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(10_100);
  // All that falls due meanwhile runs at once, before any answer is read.
  clock.stall(stalledMs);
  expect(await first.mayWrite()).toBe(stalledMs < 1_900);
  await clock.advance(20);
  expect(await first.mayWrite()).toBe(true);
  // Others wait for longer where it is seen to be slow.
  await clock.advance(5_000);
  expect(server.lease?.spec?.leaseDurationSeconds).toBe(stalledMs < 2_000 ? 4 : 8);
  await clock.advance(70_000);
  expect(server.lease?.spec?.leaseDurationSeconds).toBe(3);
  expect(log).toEqual(['a leads']);
  first.stop();
  await clock.settle();
  await first.ended;
});

test('a clock that is set changes nothing for who waits, and has a leader write nothing until its next renewal', async () => {
  const { clock, log, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(10_050);
  for (const stepMs of [3_600_000, -7_200_000]) {
    clock.stepTimeOfDay(stepMs);
    expect(await first.mayWrite()).toBe(stepMs < 0);
    await clock.advance(500);
    expect(await first.mayWrite()).toBe(true);
    await clock.advance(30_000);
  }
  expect(log).toEqual(['a leads']);
  for (const each of [first, second]) each.stop();
  await clock.settle();
  await Promise.all([first.ended, second.ended]);
});

test('a leader that comes back after another one has led and let go has lost', async () => {
  const { clock, log, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(10_000);
  server.cutOff.add('a');
  await clock.advance(10_000);
  second.stop();
  await clock.settle();
  await second.ended;
  server.cutOff.clear();
  await clock.advance(10_000);
  expect(log).toEqual(['a leads', 'b leads', 'b stops', 'a stops']);
  await first.ended;
});

test('a Lease that somebody deletes is made anew by its holder; others wait until its time would be over', async () => {
  const { clock, log, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(10_000);
  server.lease = undefined;
  await clock.advance(10_000);
  expect(log).toEqual(['a leads']);
  expect(server.lease).toMatchObject({ spec: { holderIdentity: 'a' } });
  server.cutOff.add('a');
  server.lease = undefined;
  await clock.advance(2_000);
  expect(log).toEqual(['a leads']);
  await clock.advance(2_500);
  expect(log).toEqual(['a leads', 'b leads']);
  expect(await first.mayWrite()).toBe(false);
  for (const each of [first, second]) each.stop();
  await clock.advance(5_000);
  await Promise.all([first.ended, second.ended]);
});

test('a server that takes four seconds an answer has a leader all the same, by a Lease that lasts longer', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  server.answerMs = 4_000;
  const first = candidate('a', 1);
  await clock.advance(90_000);
  expect(leaders).toEqual(['a']);
  expect(server.lease?.spec?.leaseDurationSeconds).toBe(14);
  let writable = 0;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    if (await first.mayWrite()) writable++;
  }
  expect(writable).toBe(60);
  server.answerMs = 0;
  await clock.advance(90_000);
  expect(server.lease?.spec?.leaseDurationSeconds).toBe(3);
  first.stop();
  await clock.advance(100);
  await first.ended;
});

test('a lease taken away by somebody else ends leadership at the next renewal', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  if (server.lease !== undefined) {
    server.lease = {
      ...server.lease,
      metadata: { ...server.lease.metadata, resourceVersion: '99' },
      spec: { ...server.lease.spec, holderIdentity: 'c' },
    };
  }
  await clock.advance(5000);
  expect(leaders).toEqual([]);
  await first.ended;
  expect(server.lease?.spec?.holderIdentity).toBe('c');
});

test('a lease whose holder died is taken only when it was seen unchanged for its whole duration', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  server.lease = {
    metadata: { name: 'lock', namespace: 'kube-system', uid: 'u', resourceVersion: '0', creationTimestamp: '' },
    // Long expired by its own time: the holder's clock is not to be trusted.
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z' },
  };
  const first = candidate('a', 1);
  await clock.advance(14_900);
  expect(leaders).toEqual([]);
  expect(first.waits()).toBe(true);
  // It looks when that is over, whenever its next look would have been.
  await clock.advance(200);
  expect(leaders).toEqual(['a']);
  first.stop();
  await clock.settle();
  await first.ended;
});

test('a candidate that nobody answers is said to wait after two seconds', async () => {
  const { clock, server, candidate } = aWorld();
  server.cutOff.add('a');
  const first = candidate('a', 1);
  await clock.advance(1_900);
  expect(first.waits()).toBe(false);
  await clock.advance(200);
  expect(first.waits()).toBe(true);
  first.stop();
  await clock.settle();
  await first.ended;
});

test('told to stop while waiting, a candidate just ends', async () => {
  const { clock, leaders, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const second = candidate('b', 2);
  await clock.advance(100);
  second.stop();
  await clock.settle();
  await second.ended;
  expect(leaders).toEqual(['a']);
  first.stop();
  await clock.settle();
  await first.ended;
});

test('the lease says since when its holder holds it, however often it is renewed', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  const { acquireTime } = server.lease?.spec ?? {};
  await clock.advance(30_000);
  expect(server.lease?.spec?.acquireTime).toBe(acquireTime);
  expect(server.lease?.spec?.renewTime).not.toBe(acquireTime);
  server.cutOff.add('a');
  const second = candidate('b', 2);
  await clock.advance(30_000);
  expect(leaders).toEqual(['b']);
  const spec = server.lease?.spec ?? {};
  expect(Date.parse(spec.acquireTime ?? '')).toBeGreaterThan(Date.parse(acquireTime ?? ''));
  await first.ended;
  second.stop();
  await clock.settle();
  await second.ended;
});

test('a leader whose writes all conflict looks again once each time, and steps down in time', async () => {
  const { clock, leaders, server, candidate } = aWorld();
  const first = candidate('a', 1);
  await clock.advance(100);
  server.alwaysConflicts = true;
  server.writes = 0;
  await clock.advance(9_000);
  expect(leaders).toEqual(['a']);
  expect(server.writes).toBeLessThanOrEqual(36);
  await clock.advance(22_000);
  expect(leaders).toEqual([]);
  await first.ended;
});

describe('a server that was restored from an older backup', () => {
  test('ends the leader at its next renewal, though the server has gone on since', async () => {
    const { clock, server, candidate, log } = aWorld();
    const leader = candidate('a', 1);
    await clock.advance(10_000);
    const backup = server.lease;
    await clock.advance(10_000);
    server.restore(backup);
    await clock.advance(2_000);
    expect(leader.wentBack).toEqual([expect.stringMatching(/^Lease kube-system\/lock went back from its renewal of .*restore/)]);
    await leader.ended;
    expect(log).toEqual(['a leads', 'a stops']);
  });

  test('ends who waits, and has seen the later renewals', async () => {
    const { clock, server, candidate } = aWorld();
    candidate('a', 1);
    await clock.advance(5_000);
    const waiting = candidate('b', 2);
    await clock.advance(10_000);
    const backup = server.lease;
    await clock.advance(10_000);
    server.cutOff.add('a');
    server.restore(backup);
    await clock.advance(5_000);
    expect(waiting.wentBack).toHaveLength(1);
    await waiting.ended;
  });

  test('is not what a renewal looks like whose answer was lost, when the clock was set back before it', async () => {
    const { clock, server, candidate, leaders } = aWorld();
    const leader = candidate('a', 1);
    await clock.advance(10_000);
    server.losesNextAnswer = true;
    clock.stepTimeOfDay(-3_000);
    await clock.advance(10_000);
    expect([server.losesNextAnswer, leader.wentBack, leaders]).toEqual([false, [], ['a']]);
    leader.stop();
    await clock.settle();
    await leader.ended;
  });

  test('is not what a Lease looks like that somebody has deleted, and another one has made anew', async () => {
    const { clock, server, candidate, leaders } = aWorld();
    const first = candidate('a', 1);
    await clock.advance(5_000);
    const waiting = candidate('b', 2);
    await clock.advance(60_000);
    server.cutOff.add('a');
    server.lease = undefined;
    const other = candidate('c', 3);
    await clock.advance(30_000);
    expect([waiting.wentBack, other.wentBack]).toEqual([[], []]);
    expect(leaders).toHaveLength(1);
    for (const each of [first, waiting, other]) each.stop();
    await clock.settle();
  });
});
