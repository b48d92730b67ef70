import type { Amount } from '../../api/amount.ts';
import { capacityOf, type ClusterState } from './cluster-state.ts';

/** WorkerClusters in columns: what is asked about all of them for every decision. Columns are in the order of the list. */
export class ClusterTable {
  readonly clusters: readonly ClusterState[];
  /** Of what they use, in the table of usage. */
  readonly rows: readonly number[];
  /** A number for each of them, for whoever computes one: until the next one does. */
  readonly scratch: Float64Array;
  readonly #capacities = new Map<string, readonly Amount[]>();
  #kinds: readonly number[] | undefined;

  constructor(clusters: readonly ClusterState[], rowOf: (cluster: string) => number) {
    this.clusters = clusters;
    this.rows = clusters.map(({ name }) => rowOf(name));
    this.scratch = new Float64Array(clusters.length);
  }

  /** What each of them has of a resource. */
  capacities(resource: string): readonly Amount[] {
    const known = this.#capacities.get(resource);
    if (known !== undefined) return known;
    const found = this.clusters.map((cluster) => capacityOf(cluster, resource));
    this.#capacities.set(resource, found);
    return found;
  }

  /** Numbers from 0 on, the same for clusters with the same labels: these offer the same flavors. */
  get kinds(): readonly number[] {
    const numbers = new Map<string, number>();
    this.#kinds ??= this.clusters.map(({ labels }) => {
      const kind = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      const number = numbers.get(kind) ?? numbers.size;
      numbers.set(kind, number);
      return number;
    });
    return this.#kinds;
  }
}
