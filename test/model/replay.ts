/** Stories of the simulation as traces of the model: Spin looks for a run of it that shows what their stores have shown. */
import { simulateDispatch } from '../simulation/dispatch/dispatch-simulation.ts';
import type { Defect } from '../simulation/dispatch/defects.ts';
import { createTraceRecorder, describeState, type Trace, tracedStory } from '../simulation/dispatch/protocol-trace.ts';
import type { Outcome } from '../simulation/simulation.ts';
import { compileReplay, type Replayer } from './spin.ts';

export type ReplayedStory = Outcome & {
  /** Of each Job whose trace the model refuses, where it does; these are violations of the story as well. */
  readonly refused: readonly string[];
};

export type Replay = {
  /** Plays the story of this seed, and replays each Job of it. What the model does not have is a violation. */
  play(seed: number, print?: (line: string) => void): Promise<ReplayedStory>;
  /** How many Jobs were replayed, how many different courses these had, and how many states of the model that took. */
  readonly counts: { jobs: number; courses: number; 'states of the model': number };
  close(): Promise<void>;
};

/** `defect`: whose stories are played. */
export function openReplay(replayer: Replayer = compileReplay(), defect?: Defect): Replay {
  const accepted = new Set<string>();
  const counts = { jobs: 0, courses: 0, 'states of the model': 0 };
  return {
    counts,
    async play(seed, print) {
      const recorder = createTraceRecorder();
      const outcome = await simulateDispatch(seed, print, tracedStory(seed, defect?.bias.troubles), recorder);
      const traces = recorder.traces();
      counts.jobs += traces.length;
      const fresh = new Map(traces.map((trace) => [JSON.stringify(trace.states), trace]));
      for (const key of fresh.keys()) if (accepted.has(key)) fresh.delete(key);
      counts.courses += fresh.size;
      const refused = judge([...fresh.values()]);
      if (refused.length === 0) for (const key of fresh.keys()) accepted.add(key);
      return { ...outcome, violations: [...outcome.violations, ...refused], refused };
    },
    close: async () => replayer.remove(),
  };

  function judge(traces: readonly Trace[]): string[] {
    return replayer.replay(traces.map(({ states }) => states)).flatMap((found, at) => {
      counts['states of the model'] += found.states;
      return found.isAccepted ? [] : refusalOf(traces[at], found.position);
    });
  }
}

function refusalOf(trace: Trace | undefined, position: number): string[] {
  if (trace === undefined) return [];
  const { job, states } = trace;
  const [before, after] = [states[position], states[position + 1]].map((state) => describeState(state ?? []));
  return [`Job ${job}: no step of the model leads on from state ${position} of ${states.length}, ${before}, to ${after}`];
}
