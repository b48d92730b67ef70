import { expect, test } from 'vitest';
import { createFairSlots, TooMuchWaits } from '../../../../shared/runtime/fair-slots.ts';

/** Work that ends when it is told to. */
function aDesk(all = 16, waitingMax = 100) {
  const slots = createFairSlots({ all, waitingMax });
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    begun,
    ask: (owner: string, name: string): Promise<void> => {
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return slots.run(owner, async () => {
        begun.push(name);
        await end.promise;
      });
    },
    async end(name: string, problem?: Error): Promise<void> {
      if (problem === undefined) ends.get(name)?.resolve();
      else ends.get(name)?.reject(problem);
      await new Promise(setImmediate);
    },
  };
}

test('an owner has an eighth of the slots, and what waits of that owner keeps nobody else waiting', async () => {
  const desk = aDesk();
  const asked = [1, 2, 3, 4].map((index) => desk.ask('ann', `ann-${index}`));
  asked.push(desk.ask('bob', 'bob-1'));
  expect(desk.begun).toEqual(['ann-1', 'ann-2', 'bob-1']);
  await desk.end('ann-1');
  expect(desk.begun.at(-1)).toBe('ann-3');
  for (const name of ['ann-2', 'ann-3', 'ann-4', 'bob-1']) await desk.end(name);
  await Promise.all(asked);
});

test('where all slots are taken owners take turns, however much one of them asks for', async () => {
  const desk = aDesk(8);
  const asked = Array.from({ length: 8 }, (_, index) => desk.ask(`user-${index}`, `user-${index}`));
  asked.push(...['ann-1', 'ann-2', 'ann-3'].map((name) => desk.ask('ann', name)), desk.ask('bob', 'bob-1'));
  expect(desk.begun).toHaveLength(8);
  for (let index = 0; index < 4; index++) await desk.end(`user-${index}`);
  // The second of ann waits for her first.
  expect(desk.begun.slice(8)).toEqual(['ann-1', 'bob-1']);
  await desk.end('ann-1');
  expect(desk.begun.at(-1)).toBe('ann-2');
  for (const name of ['ann-2', 'ann-3', 'bob-1', 'user-4', 'user-5', 'user-6', 'user-7']) await desk.end(name);
  await Promise.all(asked);
});

test('work that fails gives its slot back, and its error to who asked', async () => {
  const desk = aDesk(8);
  const first = desk.ask('ann', 'ann-1');
  const second = desk.ask('ann', 'ann-2');
  const failure = expect(first).rejects.toThrow('away');
  await desk.end('ann-1', new Error('away'));
  await failure;
  expect(desk.begun).toEqual(['ann-1', 'ann-2']);
  await desk.end('ann-2');
  await second;
});

test('an owner of whom too much waits is refused, and nobody else', async () => {
  const desk = aDesk(8, 1);
  const asked = [desk.ask('ann', 'ann-1'), desk.ask('ann', 'ann-2')];
  await expect(desk.ask('ann', 'ann-3')).rejects.toThrow(TooMuchWaits);
  asked.push(desk.ask('bob', 'bob-1'));
  expect(desk.begun).toEqual(['ann-1', 'bob-1']);
  for (const name of ['ann-1', 'ann-2', 'bob-1']) await desk.end(name);
  await Promise.all(asked);
});
