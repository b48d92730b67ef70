/**
 * Mutants that do the same as the original, or something as good, each with the reason. A mutant is known by its file and its change, so that an
 * entry outlives lines that move, and ends with the code it is about.
 */
export type Equivalent = {
  readonly file: string;
  /** As the study prints it. */
  readonly change: string;
  readonly why: string;
};

export const EQUIVALENTS: readonly Equivalent[] = [];
