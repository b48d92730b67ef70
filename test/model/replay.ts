/** Stories of the simulation as traces of the model: Spin looks for a run of it that shows what their stores have shown. */
import { simulateDispatch } from '../simulation/dispatch/dispatch-simulation.ts';
import { createTraceRecorder, describeState, type Trace, tracedStory } from '../simulation/dispatch/protocol-trace.ts';
import type { Outcome } from '../simulation/simulation.ts';
import { compileReplay, type Replayer } from './spin.ts';

export type Replay = {
  /** Plays the story of this seed, and replays each Job of it. What the model does not have is a violation. */
  play(seed: number, print?: (line: string) => void): Promise<Outcome>;
  /** How many were replayed, and how many of these differed from all before. */
  readonly counts: { traces: number; distinct: number; states: number };
  close(): Promise<void>;
};

export function openReplay(replayer: Replayer = compileReplay()): Replay {
  const accepted = new Set<string>();
  const counts = { traces: 0, distinct: 0, states: 0 };
  return {
    counts,
    async play(seed, print) {
      const recorder = createTraceRecorder();
      const outcome = await simulateDispatch(seed, print, tracedStory(seed), recorder);
      const problems = recorder.traces().flatMap((trace) => {
        counts.traces++;
        const key = JSON.stringify(trace.states);
        if (accepted.has(key)) return [];
        counts.distinct++;
        const problem = judge(replayer, trace);
        if (problem === undefined) accepted.add(key);
        return problem ?? [];
      });
      return { ...outcome, violations: [...outcome.violations, ...problems] };
    },
    close: async () => replayer.remove(),
  };

  function judge(by: Replayer, { job, states }: Trace): string | undefined {
    const found = by.replay(states);
    counts.states += found.states;
    if (found.isAccepted) return undefined;
    const [before, after] = [states[found.position], states[found.position + 1]].map((state) => describeState(state ?? []));
    return `Job ${job}: no step of the model leads on from state ${found.position} of ${states.length}, ${before}, to ${after}`;
  }
}
