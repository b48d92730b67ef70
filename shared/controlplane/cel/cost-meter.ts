/** What one evaluation may cost (PerCallLimit of apiserver). */
const CALL_LIMIT = 1_000_000;
/** cel-go's sentence about an evaluation that costs more. */
export const COST_LIMIT_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

/**
 * Counts what an evaluation costs, in cel-go's units (runtimecost.go). An evaluation that meets an error may cost a unit more or less than
 * there.
 */
export class CostMeter {
  cost = 0;
  /** What of it is not paid again where the same is evaluated again. */
  onlyOnce = 0;

  reset(): void {
    this.cost = 0;
    this.onlyOnce = 0;
  }

  charge(units: number): void {
    this.cost += units;
    if (this.exceeded) throw new Error(COST_LIMIT_EXCEEDED);
  }

  get exceeded(): boolean {
    return this.cost > CALL_LIMIT;
  }
}
