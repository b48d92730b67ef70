/**
 * Seeded stories of a tenant who writes anything to its prefix in Redis while the manager serves its queue, with the manager's rights in
 * Redis and the chart's in the cluster. After each story nothing outside of its namespace and its prefix has changed, and another tenant's
 * submissions go on.
 */
import { createDice } from '../dice.ts';
import type { Outcome } from '../simulation.ts';
import { hostileWrites } from './hostile-writes.ts';
import { openRedisYard } from './redis-yard.ts';

export type RedisFuzz = {
  play(seed: number, print?: (line: string) => void): Promise<Outcome>;
  close(): Promise<void>;
};

const WRITES_MAX = 40;
/** Another tenant submits something after so many stories. */
const OTHERS_EVERY = 25;

export async function openRedisFuzz(): Promise<RedisFuzz> {
  const yard = await openRedisYard();
  return {
    close: () => yard.close(),
    async play(seed, print = () => undefined) {
      const startedMs = performance.now();
      const dice = createDice(seed);
      const queue = `q${seed}`;
      const commands = hostileWrites(queue, yard.targets, dice.int(5, WRITES_MAX), dice);
      // Some are there before anybody serves the queue.
      const early = dice.int(0, commands.length);
      let refused = 0;
      const write = async (some: typeof commands): Promise<void> => {
        for (const command of some) print(JSON.stringify(command).slice(0, 400));
        const answers = (await yard.tenant.pipeline(some.map((command) => [...command])).exec()) ?? [];
        refused += answers.filter(([error]) => error?.message.startsWith('NOPERM')).length;
      };
      const violations: string[] = [];
      await write(commands.slice(0, early));
      const uid = await yard.open(queue);
      const before = await yard.outside(uid);
      await write(commands.slice(early));
      await new Promise((resolve) => void setTimeout(resolve, dice.int(30, 150)));
      const jobs = await yard.jobs();
      const after = await yard.outside(uid);
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        if (before[name] !== after[name]) violations.push(`${name} was ${before[name] ?? 'not there'}, and is ${after[name] ?? 'gone'}`);
      await yard.clear(queue, uid);
      if (seed % OTHERS_EVERY === 0)
        await yard.othersGoOn(String(seed)).catch((error: unknown) => void violations.push(`the other tenant waits: ${String(error)}`));
      return {
        seed,
        violations,
        steps: commands.length,
        simulatedMs: performance.now() - startedMs,
        jobsFinished: 0,
        podsEnded: 0,
        calls: 0,
        incarnations: 1,
        faults: new Map([
          ['jobs made', jobs],
          ['refused by Redis', refused],
        ]),
      };
    },
  };
}
