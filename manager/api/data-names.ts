/** The data sets that a Job reads. Clusters that have them are preferred; one that lacks a required one is not chosen. */
export type DataNames = { readonly preferred: readonly string[]; readonly required: readonly string[] };

/** A data set that a cluster has. The weight says how much nearer a Job is to its data there. */
export type ClusterData = { readonly name: string; readonly weight: number };

/** The most data sets that a Job names, and that a cluster has. */
export const DATA_NAMES_MAX = 16;
export const CLUSTER_DATA_MAX = 64;

export const DATA_NAME_PATTERN = '^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$';
const WORD = new RegExp(`^(!?)(${DATA_NAME_PATTERN.slice(1, -1)})$`);

/** Reads `NAME[,NAME]`, with `!` before required ones; undefined: it is malformed. */
export function parseDataNames(text: string): DataNames | undefined {
  const words = text.split(',').map((word) => WORD.exec(word.trim()));
  const named = (mark: string): string[] => words.flatMap((word) => (word?.[1] === mark ? [word[2] ?? ''] : []));
  const names = { preferred: named(''), required: named('!') };
  const count = new Set([...names.preferred, ...names.required]).size;
  return count === words.length && count <= DATA_NAMES_MAX ? names : undefined;
}

/** Sum of the weights of the data sets of a Job that a cluster has. */
export function nearness(names: DataNames | undefined, data: readonly ClusterData[] = []): number {
  if (names === undefined) return 0;
  let sum = 0;
  for (const { name, weight } of data) if (names.preferred.includes(name) || names.required.includes(name)) sum += weight;
  return sum;
}

/** The first data set that a Job requires and a cluster does not have. */
export const missingData = (names: DataNames | undefined, data: readonly ClusterData[] = []): string | undefined =>
  names?.required.find((required) => !data.some(({ name }) => name === required));
