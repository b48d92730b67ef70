/** A problem of a field, with its remedy. */
export type FieldProblem = { readonly field: string; readonly problem: string };

/** `spec.managedBy: must be ...; metadata...: ...` */
export const formatProblems = (problems: readonly FieldProblem[]): string =>
  problems.map(({ field, problem }) => `${field}: ${problem}`).join('; ');
