/**
 * Seeded stories of a tenant who writes anything to its prefix in Redis while the manager serves its queue, with the manager's rights in
 * Redis and the chart's in the cluster. Some are played at once, each with a queue of its own, while another tenant submits. After them
 * nothing outside of the tenant's namespace and prefix has changed, and the other's submissions have ended as their Jobs did.
 */
import { createDice, type Dice } from '../dice.ts';
import type { Outcome } from '../simulation.ts';
import { hostileWrites, ownSubmission, type Command } from './hostile-writes.ts';
import { openRedisYard } from './redis-yard.ts';

export type RedisFuzz = {
  play(seed: number, print?: (line: string) => void): Promise<Outcome>;
  /** Plays stories at once: what is violated is told of the first of them. */
  playAll(seeds: readonly number[], print?: (line: string) => void): Promise<Outcome>;
  close(): Promise<void>;
};

const WRITES_MAX = 15;
/** Submissions of the other tenant, of which half complete. */
const OTHERS = 4;

type Story = { readonly queue: string; readonly dice: Dice };

export async function openRedisFuzz(): Promise<RedisFuzz> {
  const yard = await openRedisYard();

  async function playAll(seeds: readonly number[], print: (line: string) => void = () => undefined): Promise<Outcome> {
    const startedMs = performance.now();
    const stories = seeds.map((seed): Story => ({ queue: `q${seed}`, dice: createDice(seed) }));
    const counts = { steps: 0, refused: 0 };
    const write = async (commands: readonly Command[]): Promise<void> => {
      for (const command of commands) print(JSON.stringify(command).slice(0, 400));
      const answers = (await yard.tenant.pipeline(commands.map((command) => [...command])).exec()) ?? [];
      counts.steps += commands.length;
      counts.refused += answers.filter(([error]) => error?.message.startsWith('NOPERM')).length;
    };
    const act = (prelude: (story: Story) => readonly Command[] = () => []): Promise<unknown> => {
      const targets = yard.targets();
      const written = (story: Story): readonly Command[] => hostileWrites(story.queue, targets, story.dice.int(0, WRITES_MAX), story.dice);
      return Promise.all(stories.map((story) => write([...prelude(story), ...written(story)])));
    };
    const before = await yard.outside();
    // 1. Before anybody serves the queue.
    await act();
    await Promise.all(stories.map(({ queue }) => yard.open(queue)));
    // 2. While both tenants submit.
    await Promise.all([act(({ queue }) => ownSubmission(queue)), yard.othersSubmit(seeds.slice(0, OTHERS).map(String))]);
    // 3. While the Jobs of both run, and while they end.
    await act();
    const [misheard] = await Promise.all([yard.othersEnd(), act()]);
    const [jobs, forged, stumbled, after] = await Promise.all([yard.jobs(), yard.forged(), yard.stumbled(), yard.outside()]);
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
    const violations = [
      ...changed.map((name) => `${name} was ${before[name] ?? 'not there'}, and is ${after[name] ?? 'gone'}`),
      ...misheard,
      ...forged,
      ...stumbled,
    ];
    await yard.clear(stories.map(({ queue }) => queue));
    return {
      seed: seeds[0] ?? 0,
      violations,
      steps: counts.steps,
      simulatedMs: performance.now() - startedMs,
      jobsFinished: 0,
      podsEnded: 0,
      calls: 0,
      incarnations: 1,
      faults: new Map([
        ['jobs made', jobs.length],
        ['refused by Redis', counts.refused],
      ]),
    };
  }

  return { playAll, play: (seed, print) => playAll([seed], print), close: () => yard.close() };
}
