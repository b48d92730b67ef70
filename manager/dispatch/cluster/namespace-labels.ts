/** Labels of a namespace of the manager cluster that one made for it on a worker cluster gets, unless its WorkerCluster names others. */
export const DEFAULT_NAMESPACE_LABELS: readonly string[] = ['pod-security.kubernetes.io/*'];

/** Those labels that are chosen by `chosen`: label keys, or `prefix/*` for all keys of a prefix. */
export function chosenLabels(labels: Readonly<Record<string, string>>, chosen: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => chosen.some((each) => isChosen(key, each))));
}

const isChosen = (key: string, chosen: string): boolean => (chosen.endsWith('/*') ? key.startsWith(chosen.slice(0, -1)) : key === chosen);
