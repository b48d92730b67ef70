import type { History, Life, Placement } from './logged-history.ts';

/** Durations of what clusters do, from a log: a replay uses them where its decisions differ from the logged ones. */
export interface RunTimes {
  /**
   * How long a Job runs once it is admitted, in milliseconds; undefined if neither it nor another Job of its queue ended in the log. An
   * interrupted Job begins anew.
   */
  of(life: Life): { readonly ms: number; readonly isGuess: boolean } | undefined;
  /** Milliseconds from the decision to preempt a Job until the eviction is written, and until none of its pods run. */
  readonly stopping: { readonly evictingMs: number; readonly waitsMs: number };
}

export function runTimesOf({ lives }: Pick<History, 'lives'>): RunTimes {
  const byQueue = new Map<string, number[]>();
  const all: number[] = [];
  for (const life of lives) {
    const ms = ownRunTime(life);
    if (ms === undefined) continue;
    const queue = byQueue.get(queueOf(life)) ?? [];
    byQueue.set(queueOf(life), queue);
    queue.push(ms);
    all.push(ms);
  }
  const medians = new Map([...byQueue].map(([queue, times]) => [queue, median(times)]));
  const overall = median(all);
  const displaced = lives.flatMap(({ placements }) => placements.filter((each) => each.displaced !== undefined));
  const delays = (until: (placement: Placement) => number | undefined): number =>
    median(displaced.flatMap((each) => (until(each) === undefined ? [] : [(until(each) ?? 0) - (each.displaced?.atMs ?? 0)]))) ?? 0;
  return {
    of: (life) => {
      const own = ownRunTime(life);
      if (own !== undefined) return { ms: own, isGuess: false };
      const guess = medians.get(queueOf(life)) ?? overall;
      if (guess === undefined) return undefined;
      // The Job has run longer than the guess already.
      const open = life.placements.at(-1);
      return open !== undefined && open.end === undefined ? undefined : { ms: guess, isGuess: true };
    },
    stopping: {
      evictingMs: delays(({ evicting }) => evicting?.atMs),
      waitsMs: delays(({ end }) => (end?.how === 'Waits' ? end.atMs : undefined)),
    },
  };
}

const queueOf = ({ told }: Life): string => `${told.job.split('/')[0] ?? ''}/${told.queue ?? ''}`;

/** The duration of its last admission, if the Job ended by itself. */
function ownRunTime({ placements }: Life): number | undefined {
  const last = placements.at(-1);
  const hasEnded = last?.end?.how === 'Finished' || last?.end?.how === 'Deleted';
  return last?.end === undefined || !hasEnded ? undefined : last.end.atMs - last.from.atMs;
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
