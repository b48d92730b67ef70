import { expect, test } from 'vitest';
import type { CoreEvent } from '../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { createEventRecorder, type EventRecorder, type EventRecorderOptions } from '../../../../shared/kube/event-recorder.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../../../shared/kube/rate-limiter.ts';
import type { Transport, TransportResponse } from '../../../../shared/kube/transport.ts';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A server that stores Events by name and answers with what a test queued first. */
function aWorld({ answerMs = 0, ...options }: Partial<EventRecorderOptions> & { readonly answerMs?: number } = {}): {
  recorder: EventRecorder;
  clock: FakeClock;
  events: Map<string, CoreEvent>;
  failures: (TransportResponse | Error)[];
} {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const events = new Map<string, CoreEvent>();
  const failures: (TransportResponse | Error)[] = [];
  const transport: Transport = {
    send: async ({ method, path, body = '{}' }) => {
      if (answerMs > 0) await sleep(clock, answerMs);
      const failure = failures.shift();
      if (failure instanceof Error) throw failure;
      if (failure !== undefined) return failure;
      const name = method === 'POST' ? (JSON.parse(body) as CoreEvent).metadata.name : (path.split('/').at(-1) ?? '');
      const known = events.get(name);
      if (method === 'PATCH' && known === undefined) return { status: 404, headers: {}, body: '{"kind":"Status","reason":"NotFound"}' };
      events.set(name, { ...known, ...(JSON.parse(body) as CoreEvent) });
      return { status: 200, headers: {}, body: '{}' };
    },
    stream: () => Promise.reject(new Error('unused')),
    close: async () => undefined,
  };
  const client = createKubeClient(transport, { userAgent: 'test', clock });
  return {
    clock,
    events,
    failures,
    recorder: createEventRecorder({ client, component: 'job-controller', clock, log: silentLogger, ...options }),
  };
}

const job = (uid = 'u1') => ({ metadata: { name: 'j', namespace: 'ns', uid, resourceVersion: '5', creationTimestamp: '' } });

test('an event says who saw what happen to which object', async () => {
  const { recorder, events } = aWorld();
  recorder.event(JOBS, job(), 'Normal', 'SuccessfulCreate', 'Created pod: j-abc');
  await recorder.flush();
  expect([...events.values()]).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^j\.[0-9a-f]{16}$/) as string, namespace: 'ns' },
      involvedObject: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ns', name: 'j', uid: 'u1', resourceVersion: '5' },
      reason: 'SuccessfulCreate',
      message: 'Created pod: j-abc',
      type: 'Normal',
      source: { component: 'job-controller' },
      reportingComponent: 'job-controller',
      reportingInstance: '',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      eventTime: null,
      count: 1,
    },
  ]);
});

test('the same event again raises the count of the first', async () => {
  const { recorder, events, clock } = aWorld();
  for (let time = 0; time < 3; time++) {
    recorder.event(JOBS, job(), 'Warning', 'FailedCreate', 'no quota');
    await clock.advance(1000);
  }
  await recorder.flush();
  expect([...events.values()]).toMatchObject([{ count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:02Z' }]);
});

test('the tenth different message is folded into one event, and so are those that follow', async () => {
  const { recorder, events } = aWorld();
  for (let index = 1; index <= 12; index++) recorder.event(JOBS, job(), 'Normal', 'SuccessfulCreate', `Created pod: ${index}`);
  await recorder.flush();
  const messages = [...events.values()].map(({ message, count }) => `${message} x${count}`);
  expect(messages).toHaveLength(10);
  expect(messages.at(-1)).toBe('(combined from similar events): Created pod: 12 x3');
});

test('ten quiet minutes later the messages are told apart again', async () => {
  const { recorder, events, clock } = aWorld();
  for (let index = 1; index <= 9; index++) recorder.event(JOBS, job(), 'Normal', 'R', `m${index}`);
  await clock.advance(600_001);
  recorder.event(JOBS, job(), 'Normal', 'R', 'm10');
  await recorder.flush();
  expect([...events.values()].at(-1)?.message).toBe('m10');
});

test('a flood about one object is cut off after 25, and trickles on at one in five minutes', async () => {
  const { recorder, events, clock } = aWorld();
  for (let index = 0; index < 40; index++) recorder.event(JOBS, job(), 'Normal', `Reason${index}`, 'm');
  recorder.event(JOBS, job('u2'), 'Normal', 'Other', 'm');
  recorder.event(JOBS, job(), 'Warning', 'Serious', 'm');
  await recorder.flush();
  expect(events.size).toBe(27);
  await clock.advance(300_000);
  for (let index = 0; index < 3; index++) recorder.event(JOBS, job(), 'Normal', `Later${index}`, 'm');
  await recorder.flush();
  expect(events.size).toBe(28);
});

test('an event that the server has forgotten meanwhile is written anew with its count', async () => {
  const { recorder, events } = aWorld();
  recorder.event(JOBS, job(), 'Normal', 'R', 'm');
  await recorder.flush();
  events.clear();
  recorder.event(JOBS, job(), 'Normal', 'R', 'm');
  await recorder.flush();
  expect([...events.values()]).toMatchObject([{ count: 2, message: 'm' }]);
});

test('a server that is away is tried again, one that refuses is not', async () => {
  const { recorder, events, clock, failures } = aWorld();
  failures.push(new Error('connection refused'), new Error('connection refused'));
  recorder.event(JOBS, job(), 'Normal', 'R', 'm');
  await clock.advance(19_999);
  expect(events.size).toBe(0);
  await clock.advance(1);
  expect(events.size).toBe(1);
  failures.push({ status: 403, headers: {}, body: '{"kind":"Status","reason":"Forbidden"}' });
  recorder.event(JOBS, job(), 'Normal', 'Q', 'm');
  await recorder.flush();
  expect(events.size).toBe(1);
});

test('an event of a node says which, and which part of the object it is about', async () => {
  const { recorder, events } = aWorld({ component: 'kubelet', host: 'node-1' });
  recorder.event(JOBS, job(), 'Normal', 'Started', 'Container started', 'spec.containers{a}');
  recorder.event(JOBS, job(), 'Normal', 'Started', 'Container started', 'spec.containers{b}');
  recorder.event(JOBS, job(), 'Normal', 'Started', 'Container started', 'spec.containers{b}');
  await recorder.flush();
  expect([...events.values()]).toMatchObject([
    {
      involvedObject: { fieldPath: 'spec.containers{a}' },
      source: { component: 'kubelet', host: 'node-1' },
      reportingInstance: 'node-1',
      count: 1,
    },
    { involvedObject: { fieldPath: 'spec.containers{b}' }, count: 2 },
  ]);
});

test('two sources that tell of one object at one instant do not take one another for the same event', async () => {
  const names: string[] = [];
  for (const source of [{ component: 'default-scheduler' }, { component: 'kubelet', host: 'a' }, { component: 'kubelet', host: 'b' }]) {
    const { recorder, events } = aWorld(source);
    recorder.event(JOBS, job(), 'Normal', 'Scheduled', 'there');
    await recorder.flush();
    names.push(...events.keys());
  }
  expect(new Set(names).size).toBe(3);
});

test('events beyond the rate wait for it; when the program ends they are given up', async () => {
  const stopping = new AbortController();
  const clock = new FakeClock();
  const rateLimiter = createRateLimiter({ qps: 1, burst: 2, clock });
  const { recorder, events } = aWorld({ clock, rateLimiter, signal: stopping.signal });
  for (let index = 0; index < 5; index++) recorder.event(JOBS, job(`u${index}`), 'Normal', 'SuccessfulCreate', 'Created');
  await clock.settle();
  expect(events.size).toBe(2);
  await clock.advance(1000);
  expect(events.size).toBe(3);
  stopping.abort(new Error('over'));
  await recorder.flush();
  recorder.event(JOBS, job('late'), 'Normal', 'SuccessfulCreate', 'Created');
  await recorder.flush();
  expect(events.size).toBe(3);
});

test('a server that answers slowly gets the next event of a lane when eight times as long is over', async () => {
  const { recorder, clock, events } = aWorld({ answerMs: 100 });
  recorder.event(JOBS, job(), 'Normal', 'SuccessfulCreate', 'Created pod');
  recorder.event(JOBS, job(), 'Normal', 'Completed', 'Job completed');
  await clock.advance(100);
  expect(events.size).toBe(1);
  await clock.advance(899);
  expect(events.size).toBe(1);
  await clock.advance(1);
  expect(events.size).toBe(2);
});

test('a flood of which events would be dropped soon is written without rests', async () => {
  const { recorder, clock, events } = aWorld({ answerMs: 100 });
  for (let index = 0; index < 3_000; index++) recorder.event(JOBS, job(`u${index}`), 'Normal', 'SuccessfulCreate', 'Created pod');
  await clock.advance(1_000);
  expect(events.size).toBe(40);
});

test('nothing rests once a program ends: what is recorded is written', async () => {
  const { recorder, clock, events } = aWorld({ answerMs: 100 });
  for (let index = 0; index < 5; index++) recorder.event(JOBS, job(), 'Normal', 'SuccessfulCreate', `Created pod ${index}`);
  await clock.advance(150);
  expect(events.size).toBe(1);
  const flushed = recorder.flush();
  await clock.advance(400);
  await flushed;
  expect(events.size).toBe(5);
});
