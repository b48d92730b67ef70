import { UncountableError } from './call-cost.ts';

/** What one evaluation may cost (PerCallLimit of apiserver). */
const CALL_LIMIT = 1_000_000;
/** cel-go's sentence about an evaluation that costs more. */
export const COST_LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

/** Counts what an evaluation costs, in cel-go's units (runtimecost.go), and ends it where that is too much. */
export class CostMeter {
  cost = 0;
  /** What of it is not paid again where the same is evaluated again. */
  onlyOnce = 0;
  /** Why the evaluation has ended: not even what passes over errors goes on. */
  stopped: string | undefined;

  reset(): void {
    this.cost = 0;
    this.onlyOnce = 0;
    this.stopped = undefined;
  }

  charge(units: number): void {
    this.cost += units;
    if (this.cost > CALL_LIMIT) this.stop(COST_LIMIT_EXCEEDED);
  }

  /** The cost of a call. */
  chargeCall(cost: () => number): void {
    let units = 0;
    try {
      units = cost();
    } catch (error) {
      if (error instanceof UncountableError) this.stop(error.message);
      throw error;
    }
    this.charge(units);
  }

  stop(why: string): never {
    this.stopped = why;
    throw new Error(why);
  }
}
