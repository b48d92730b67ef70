/** Hears what an evaluation has cost, in cel-go's units. */
export type Paid = (units: number) => void;

/** What is left for the evaluations of one policy, webhook or object, in cel-go's units. */
export class CostBudget {
  #remaining: number;
  readonly #paid: Paid | undefined;

  constructor(units: number, paid?: Paid) {
    this.#remaining = units;
    this.#paid = paid;
  }

  get isSpent(): boolean {
    return this.#remaining <= 0;
  }

  /** Throws an OutOfBudgetError where less is left. */
  spend(units: number): void {
    this.#paid?.(units);
    this.#remaining -= units;
    if (this.#remaining < 0) throw new OutOfBudgetError();
  }
}

/** Evaluation stops here: nothing more is evaluated, whatever came out before. */
export class OutOfBudgetError extends Error {
  override readonly name = 'OutOfBudgetError';
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}
