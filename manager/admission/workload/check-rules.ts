/** An admission check of a ClusterQueue (Kueue's admissionChecksStrategy). */
export type CheckRule = {
  readonly name: string;
  /** The check applies to Jobs that use any of these flavors. Empty: to all Jobs. */
  readonly onFlavors: readonly string[];
};

/** Names of the checks for a Job that is admitted to these flavors. */
export function checksFor(rules: readonly CheckRule[], used: ReadonlySet<string>): string[] {
  const isFor = ({ onFlavors }: CheckRule): boolean => onFlavors.length === 0 || onFlavors.some((flavor) => used.has(flavor));
  return rules
    .filter(isFor)
    .map(({ name }) => name)
    .toSorted();
}
