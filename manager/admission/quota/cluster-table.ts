import type { Amount } from '../../api/amount.ts';
import { capacityOf, type ClusterState } from './cluster-state.ts';

/** WorkerClusters in columns, for queries over all of them at every decision. Columns are in the order of the list. */
export class ClusterTable {
  readonly clusters: readonly ClusterState[];
  /** The row of each cluster in the table of usage. */
  readonly rows: readonly number[];
  /** One number per cluster for a caller's computation; the next caller overwrites it. */
  readonly scratch: Float64Array;
  readonly #capacities = new Map<string, readonly Amount[]>();
  #kinds: readonly number[] | undefined;
  #byName: ReadonlyMap<string, ClusterState> | undefined;

  constructor(clusters: readonly ClusterState[], rowOf: (cluster: string) => number) {
    this.clusters = clusters;
    this.rows = clusters.map(({ name }) => rowOf(name));
    this.scratch = new Float64Array(clusters.length);
  }

  /** The capacity of each cluster for a resource. */
  capacities(resource: string): readonly Amount[] {
    const known = this.#capacities.get(resource);
    if (known !== undefined) return known;
    const found = this.clusters.map((cluster) => capacityOf(cluster, resource));
    this.#capacities.set(resource, found);
    return found;
  }

  named(name: string): ClusterState | undefined {
    this.#byName ??= new Map(this.clusters.map((each) => [each.name, each]));
    return this.#byName.get(name);
  }

  /** A number per cluster, from 0, equal for clusters with the same labels: these offer the same flavors. */
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
