/**
 * A log that is followed, from a cluster that does what clusters do: ends an answer, breaks it, says that it is too early, says nothing.
 */
import { beforeEach, expect, test } from 'vitest';
import type { LogEvent } from '../../../../manager/dashboard/live-logs.ts';
import type { CopyPod } from '../../../../manager/live-logs/copy-pods.ts';
import { followLog, IDLE_MS } from '../../../../manager/live-logs/follow-log.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** What the cluster answers to one request for the log: pieces, and then its end or an error. */
type Answer = { readonly pieces?: readonly string[]; readonly fails?: Error; readonly hangs?: boolean } | { readonly refuses: Error };

let clock: FakeClock;
let asked: string[];
let phase: CopyPod['phase'] | undefined;
beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  phase = 'Running';
});

const at = (second: number, text: string): string => `2026-01-01T00:00:0${second}.000000000Z ${text}\n`;
const podNow = (): CopyPod | undefined => phase && { name: 'sum-x', container: 'main', phase };
const broken = (): Error => new Error('the connection broke');
const apiError = (code: number, reason = ''): ApiError => new ApiError(code, { reason, message: 'of the cluster' });

/** What is told until it ends, or for so long. */
async function told(answers: Answer[], { forMs = 4 * IDLE_MS, find = async () => podNow() } = {}): Promise<string[]> {
  const stop = new AbortController();
  const events: LogEvent[] = [];
  const stream = async (path: string, { signal }: { readonly signal: AbortSignal }): Promise<AsyncIterable<string>> => {
    asked.push(path.split('?')[1] ?? '');
    const answer = answers.shift() ?? { refuses: broken() };
    if ('refuses' in answer) throw answer.refuses;
    return (async function* () {
      yield* answer.pieces ?? [];
      if (answer.fails !== undefined) throw answer.fails;
      if (answer.hangs === true) await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    })();
  };
  const following = (async () => {
    const options = {
      namespace: 'team',
      find,
      client: async () => ({ stream }),
      from: undefined,
      paces: [],
      refused: 'the right is missing',
      clock,
    };
    for await (const event of followLog({ ...options, pod: podNow()!, signal: stop.signal })) events.push(event);
  })();
  for (let passedMs = 0; passedMs < forMs; passedMs += 1_000) await clock.advance(1_000);
  stop.abort(new Error('the test is over'));
  await following;
  return events.map(({ event, data }) => `${event} ${Object.values(data).join()}`);
}

test('an answer that ends or breaks is asked for again from where it was read to, a second earlier', async () => {
  const answers = [
    { pieces: [at(1, 'a'), `${at(2, 'b')}2026-01-01T00:00:03.0000`], fails: broken() },
    { pieces: [at(1, 'a'), at(2, 'b'), at(3, 'c')] },
    { pieces: [at(2, 'b'), at(3, 'c'), at(4, 'd')], hangs: true },
  ];
  expect(await told(answers, { forMs: 20_000 })).toEqual(['lines a\n', 'lines b\n', 'lines c\n', 'lines d\n']);
  expect(asked).toEqual([
    'container=main&tailLines=1000&follow=true&timestamps=true',
    'container=main&sinceTime=2026-01-01T00%3A00%3A01Z&follow=true&timestamps=true',
    'container=main&sinceTime=2026-01-01T00%3A00%3A02Z&follow=true&timestamps=true',
  ]);
});

test('a pod that has ended is read to its end once more, with what has no end of its line', async () => {
  const answers = [{ pieces: [at(1, 'a')] }, { pieces: [at(1, 'a'), at(2, 'b').trimEnd()] }];
  const find = async (): Promise<CopyPod | undefined> => {
    phase = 'Failed';
    return podNow();
  };
  expect(await told(answers, { find })).toEqual(['lines a\n', 'lines b\n', 'end the pod has failed']);
  expect(answers).toEqual([]);
});

test('a pod that goes while it is read to its end has ended; one whose connection broke before is gone', async () => {
  const find = async (): Promise<undefined> => undefined;
  expect(await told([{ pieces: [at(1, 'a'), at(2, 'b').trimEnd()] }], { find })).toEqual([
    'lines a\n',
    'lines b\n',
    'end the pod has ended',
  ]);
  expect(await told([{ pieces: [at(1, 'a')], fails: broken() }], { find })).toEqual(['lines a\n', 'end the pod is gone']);
});

test('a container that has not begun is waited for', async () => {
  const tooEarly = { refuses: apiError(400, 'BadRequest') };
  expect(
    await told([tooEarly, tooEarly, tooEarly, tooEarly, tooEarly, tooEarly, tooEarly, { pieces: [at(1, 'a')], hangs: true }], {
      forMs: 300_000,
    }),
  ).toEqual(['lines a\n']);
});

test('what may not be read is said once, in our words', async () => {
  expect(await told([{ refuses: apiError(403, 'Forbidden') }])).toEqual(['problem the right is missing']);
  const find = (): Promise<never> => Promise.reject(apiError(403, 'Forbidden'));
  expect(await told([{ pieces: [at(1, 'a')] }], { find })).toEqual(['lines a\n', 'problem the right is missing']);
});

test('a cluster that does not answer as it should is not asked for ever', async () => {
  const find = (): Promise<never> => Promise.reject(broken());
  const problem = 'problem its cluster does not answer as it should; open it again to try on';
  expect(await told([], { find })).toEqual([problem]);
  expect(asked).toHaveLength(6);
  asked = [];
  expect(await told(Array.from({ length: 20 }, () => ({ refuses: apiError(502) })))).toEqual([problem]);
  expect(asked).toHaveLength(6);
});

test('one whose answers break, but which tells that the pod is there, is asked ever less often, and no longer than for half an hour', async () => {
  expect(await told([])).toEqual(['end nothing was written for 30 minutes']);
  expect(asked.length).toBeLessThan(IDLE_MS / 15_000 + 6);
});

test('a log in which nothing is written is let go after half an hour', async () => {
  expect(await told([{ pieces: [at(1, 'a')], hangs: true }])).toEqual(['lines a\n', 'end nothing was written for 30 minutes']);
});
