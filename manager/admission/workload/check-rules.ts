/** A check of a ClusterQueue (Kueue's admissionChecksStrategy). */
export type CheckRule = {
  readonly name: string;
  /** Jobs that use none of these flavors pass by it. Empty: it is for all. */
  readonly onFlavors: readonly string[];
};

/** Which checks a Job has to pass that is admitted to these flavors, by name. */
export function checksFor(rules: readonly CheckRule[], flavors: Readonly<Record<string, string>>): string[] {
  const used = new Set(Object.values(flavors));
  const isFor = ({ onFlavors }: CheckRule): boolean => onFlavors.length === 0 || onFlavors.some((flavor) => used.has(flavor));
  return rules
    .filter(isFor)
    .map(({ name }) => name)
    .toSorted();
}
