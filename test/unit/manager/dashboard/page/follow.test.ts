import { expect, test } from 'vitest';
import { ApiProblem } from '../../../../../manager/dashboard/page/api.ts';
import { follow, type Connection } from '../../../../../manager/dashboard/page/follow.ts';

/** Streams by turns: so many chunks and then the end, or a problem. Returns what was waited for, and where each connection went on. */
async function followed(turns: readonly (number | ApiProblem)[]) {
  const done = new AbortController();
  const [pauses, since, connections]: [number[], (string | undefined)[], Connection['kind'][]] = [[], [], []];
  let [id, heard] = [0, 0];
  await follow(
    {
      api: {
        async stream(lastEventId) {
          since.push(lastEventId);
          const turn = turns[since.length - 1];
          if (turn === undefined) {
            done.abort();
            throw new ApiProblem(0, 'the test is over');
          }
          if (typeof turn !== 'number') throw turn;
          const text = Array.from({ length: turn }, () => `id: ${++id}\nevent: change\ndata: {}\n\n`);
          return ReadableStream.from(text.map((each) => new TextEncoder().encode(each)));
        },
      },
      onEvent: () => undefined,
      onHeard: () => heard++,
      onConnection: ({ kind }) => void connections.push(kind),
      // The one who watches for silence waits for longer than anybody here.
      sleep: async (ms, signal) => {
        if (ms <= 15_000) pauses.push(ms);
        else await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
      random: () => 0.5,
    },
    done.signal,
  );
  return { pauses, since, connections, heard };
}

test('a stream that has brought something goes on at once, from where it was', async () => {
  const { pauses, since, heard } = await followed([5, 4]);
  expect(heard).toBe(9);
  expect(pauses).toEqual([]);
  expect(since).toEqual([undefined, '5', '9']);
});

test('a server that is away, or ends each stream as soon as it has begun, is asked less and less often', async () => {
  const away = () => new ApiProblem(0, 'nobody answers');
  expect((await followed([away(), away(), away(), away(), away(), away(), away()])).pauses).toEqual([
    375, 750, 1_500, 3_000, 6_000, 11_250, 11_250,
  ]);
  const { pauses, connections } = await followed([1, 1]);
  expect([pauses, connections]).toEqual([
    [375, 750],
    ['Live', 'Lost', 'Live', 'Lost'],
  ]);
  // Once it is well, the next break is a first one.
  expect((await followed([away(), away(), 5, away()])).pauses).toEqual([375, 750, 375]);
});

test('whoever is not let in any more is told, and it is not tried again', async () => {
  const { since, connections } = await followed([5, new ApiProblem(401, 'the token has run out'), 5]);
  expect(since).toHaveLength(2);
  expect(connections).toEqual(['Live', 'Refused']);
});
