/** The labels that a namespace created on a worker cluster gets from the namespace at home, unless its WorkerCluster names others. */
export const DEFAULT_NAMESPACE_LABELS: readonly string[] = ['pod-security.kubernetes.io/*'];

/** The labels that `chosen` selects: by label key, or by `prefix/*` for all keys of a prefix. */
export function chosenLabels(labels: Readonly<Record<string, string>>, chosen: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => chosen.some((each) => isChosen(key, each))));
}

const isChosen = (key: string, chosen: string): boolean => (chosen.endsWith('/*') ? key.startsWith(chosen.slice(0, -1)) : key === chosen);
