import { expect, test } from 'vitest';
import { JOBS, PODS } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../../../shared/kube/rate-limiter.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { createStopDeadlines, STOP_ANSWER_MS, type StopDeadlines } from '../../../../worker/fence/stop-deadlines.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KEY = { namespace: 'team', name: 'sum' };
const POD = {
  metadata: { namespace: 'team', name: 'sum', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { containers: [{ name: 'main', image: 'busybox' }] },
};

/** A server that takes every request and answers none. */
function swallowing(qps = 0): {
  readonly clock: FakeClock;
  readonly deadlines: StopDeadlines;
  readonly sent: string[];
  readonly ends: string[];
  readonly client: (isStopping: () => boolean) => KubeClient;
  readonly note: (name: string, request: Promise<unknown>) => void;
} {
  const clock = new FakeClock();
  const deadlines = createStopDeadlines(clock);
  const sent: string[] = [];
  const ends: string[] = [];
  const transport: Transport = {
    send: ({ method, signal }) => {
      sent.push(method);
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    },
    stream: () => Promise.reject(new Error('no stream')),
    close: () => Promise.resolve(),
  };
  const rateLimiter = createRateLimiter({ qps, burst: 1, clock });
  const kube = createKubeClient(transport, { userAgent: 'test', clock, rateLimiter });
  const note = (name: string, request: Promise<unknown>): void => {
    request.catch((error: unknown) => ends.push(`${name} at ${clock.monotonic()}: ${error instanceof Error ? error.message : ''}`));
  };
  return { clock, deadlines, sent, ends, note, client: (isStopping) => deadlines.of(kube, isStopping) };
}

test('each request for what is stopping ends without an answer, and no other does', async () => {
  const { clock, ends, note, client } = swallowing();
  const stopping = client(() => true);
  note('get', stopping.get(JOBS, KEY));
  note('list', stopping.list(PODS, { namespace: 'team' }));
  note('create', stopping.create(PODS, POD));
  note('replace', stopping.replace(PODS, POD));
  note('patch', stopping.patch(PODS, KEY, { type: 'merge', body: {} }));
  note('delete', stopping.delete(PODS, KEY));
  note('replaceStatus', stopping.replaceStatus(PODS, POD));
  note('patchStatus', stopping.patchStatus(PODS, KEY, { type: 'merge', body: {} }));
  note('other', client(() => false).delete(PODS, KEY));
  await clock.advance(STOP_ANSWER_MS - 1);
  expect(ends).toEqual([]);
  const startMs = clock.monotonic() - (STOP_ANSWER_MS - 1);
  await clock.advance(60_000);
  expect(ends).toHaveLength(8);
  for (const end of ends) expect(end).toMatch(new RegExp(`^\\w+ at ${startMs + STOP_ANSWER_MS}: .*no answer within 5000 ms`));
});

test('what was sent before the fence tripped ends as long after the trip', async () => {
  const { clock, deadlines, ends, note, client } = swallowing();
  let tripped = false;
  note('delete', client(() => tripped).delete(PODS, KEY));
  note('other', client(() => false).delete(PODS, KEY));
  await clock.advance(30_000);
  tripped = true;
  const startMs = clock.monotonic();
  deadlines.look();
  deadlines.look();
  await clock.advance(60_000);
  expect(ends).toEqual([expect.stringMatching(new RegExp(`^delete at ${startMs + STOP_ANSWER_MS}: `))]);
});

test('the time in which a request waits for its turn in the rate limit does not count', async () => {
  const { clock, sent, ends, note, client } = swallowing(1 / 30);
  const stopping = client(() => true);
  const startMs = clock.monotonic();
  note('first', stopping.delete(PODS, KEY));
  note('second', stopping.delete(PODS, KEY));
  await clock.advance(29_000);
  expect([sent.length, ends.length]).toEqual([1, 1]);
  await clock.advance(60_000);
  expect(ends[1]).toMatch(new RegExp(`^second at ${startMs + 30_000 + STOP_ANSWER_MS}: `));
});

test('a caller ends its request as before', async () => {
  const { clock, ends, note, client } = swallowing();
  const over = new AbortController();
  note('delete', client(() => true).delete(PODS, KEY, { signal: over.signal }));
  await clock.advance(1_000);
  over.abort(new Error('the worker ends'));
  await clock.settle();
  expect(ends).toEqual([expect.stringContaining('the worker ends')]);
});
