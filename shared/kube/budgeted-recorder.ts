import type { Clock } from '../runtime/clock.ts';
import type { EventRecorder } from './event-recorder.ts';
import { createTokenBucket } from './token-bucket.ts';

/** What may come at once, in seconds of the budget. */
const BURST_SECONDS = 4;

/**
 * Records `qps` Events a second. Nothing waits for its turn: what the budget has no room for is given to `onDropped`, because conditions
 * carry the truth, and what is told late is told beside what matters then.
 */
export function createBudgetedRecorder(
  recorder: EventRecorder,
  { qps, clock, onDropped }: { readonly qps: number; readonly clock: Pick<Clock, 'now'>; readonly onDropped: () => void },
): EventRecorder {
  const budget = createTokenBucket({ qps, burst: qps * BURST_SECONDS, clock });
  return {
    event(...happening) {
      if (budget.take()) recorder.event(...happening);
      else onDropped();
    },
    flush: () => recorder.flush(),
  };
}
