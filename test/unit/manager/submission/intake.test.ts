import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import { createIntake, type Intake } from '../../../../manager/submission/intake.ts';
import type { SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { aborted } from '../../../../shared/runtime/tasks.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { testTenant } from '../../../support/submission-source.ts';

const object = (name: string, spec: object = {}): SubmissionQueueObject => ({
  metadata: { namespace: 'team', name, uid: `uid-${name}` } as SubmissionQueueObject['metadata'],
  spec: { serviceAccountName: 'submitter', ...spec },
});

let clock: FakeClock;
let objects: SubmissionQueueObject[];
let changed: () => void;
/** Queues that are open, and those of which submissions are taken now. */
let open: string[];
let consumed: string[];
let history: string[];
/** What is to become of the next queue that is consumed. */
let breaks: Map<string, Error>;
let slow: Promise<void> | undefined;
let intake: Intake;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  objects = [];
  [open, consumed, history] = [[], [], []];
  breaks = new Map();
  slow = undefined;
  stop = new AbortController();
  intake = createIntake({
    shared: testTenant(),
    objects: {
      addHandler: ({ updated }) => {
        changed = () => updated?.(object('any'), object('any'));
      },
      list: () => objects,
      waitForSync: async () => undefined,
    },
    connect: ({ label, weight }) => {
      const name = `${label}*${weight}`;
      open.push(name);
      history.push(`open ${name}`);
      return {
        name,
        close: async () => {
          open.splice(open.indexOf(name), 1);
          history.push(`close ${name}`);
        },
      } as unknown as SubmissionQueue;
    },
    consume: async ({ label }, _queue, signal) => {
      const error = breaks.get(label);
      breaks.delete(label);
      if (error !== undefined) throw error;
      consumed.push(label);
      await aborted(signal);
      await slow;
      consumed.splice(consumed.indexOf(label), 1);
    },
    tenantRules: { bytesMax: 1_000, managerIdentity: false, deniedNamespaces: [] },
    clock,
    log: silentLogger,
  });
  running = intake.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await clock.advance(100_000);
  await running;
});

async function becomes(...now: SubmissionQueueObject[]): Promise<void> {
  objects = now;
  changed();
  await clock.settle();
}

test('there is a queue for each object, opened when it comes and closed when it goes', async () => {
  await intake.ready(stop.signal);
  await clock.settle();
  expect(consumed).toEqual(['shared']);
  await becomes(object('a'), object('b'));
  expect(consumed.toSorted()).toEqual(['shared', 'team/a', 'team/b']);
  expect([...intake.queues().keys()].toSorted()).toEqual(['shared', 'uid-a', 'uid-b']);
  await becomes(object('b'));
  expect(open).toEqual(['shared*1', 'team/b*1']);
  expect([...intake.queues().keys()].toSorted()).toEqual(['shared', 'uid-b']);
});

test('a queue whose object changes is opened anew when what it had in hand has ended, and the others are left alone', async () => {
  await becomes(object('a'), object('b'));
  const inHand = Promise.withResolvers<void>();
  slow = inHand.promise;
  await becomes(object('a', { weight: 5 }), object('b'));
  expect(history).toEqual(['open shared*1', 'open team/a*1', 'open team/b*1']);
  inHand.resolve();
  await clock.settle();
  expect(history.slice(3)).toEqual(['close team/a*1', 'open team/a*5']);
  expect(intake.queues().get('uid-a')).toMatchObject({ name: 'team/a*5' });
});

test('an object that says the same as before changes nothing', async () => {
  await becomes(object('a'));
  await becomes(object('a'));
  expect(history).toEqual(['open shared*1', 'open team/a*1']);
});

test('a queue that breaks is opened again after a while, and the others go on', async () => {
  breaks.set('team/a', new Error('no such Redis'));
  await becomes(object('a'), object('b'));
  expect(consumed).toEqual(['shared', 'team/b']);
  await clock.advance(1_000);
  expect(consumed).toEqual(['shared', 'team/b', 'team/a']);
  expect(history.filter((each) => each.endsWith('team/a*1'))).toEqual(['open team/a*1', 'close team/a*1', 'open team/a*1']);
});

test('when the manager leads no more every queue is closed, those that were on their way out included', async () => {
  await becomes(object('a'), object('b'));
  const inHand = Promise.withResolvers<void>();
  slow = inHand.promise;
  await becomes(object('b'));
  stop.abort();
  let ended = false;
  void running.then(() => (ended = true));
  await clock.settle();
  expect(ended).toBe(false);
  inHand.resolve();
  await clock.settle();
  expect(ended).toBe(true);
  expect(open).toEqual([]);
  expect(intake.queues().size).toBe(0);
});
