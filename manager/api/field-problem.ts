/** What is wrong with a field, worded so that the reader knows what to do about it. */
export type FieldProblem = { readonly field: string; readonly problem: string };

/** `spec.managedBy: must be ...; metadata...: ...` */
export const formatProblems = (problems: readonly FieldProblem[]): string =>
  problems.map(({ field, problem }) => `${field}: ${problem}`).join('; ');
