import { minus, ZERO, type Amount } from '../../api/amount.ts';
import { capacityOf, type ClusterState } from './cluster-state.ts';
import { ClusterTable } from './cluster-table.ts';

/**
 * What is in use, by holder (a node of the quota tree, a WorkerCluster) and key (a flavor resource, a resource). Decisions are tried on a fork: it begins with the
 * usage of its origin, and neither sees what the other changes from then on.
 *
 * A column per key, a row per holder. Columns are cut into blocks, which forks share until they write to them, so that a fork costs next to nothing, and the
 * usage of hundreds of clusters is read in one go.
 */
export class Usage {
  readonly #axes: Axes;
  #columns: (Column | undefined)[];
  /** What is not marked with this is shared. */
  #owner: Owner = {};
  /** Holds until something is written. */
  readonly #derived = new Map<(usage: Usage) => unknown, unknown>();

  constructor(axes: Axes, columns: (Column | undefined)[]) {
    this.#axes = axes;
    this.#columns = columns;
  }

  readonly get = (holder: string, key: string): Amount => {
    const column = this.columnOf(key);
    const row = this.#axes.rows.get(holder);
    return column === undefined || row === undefined ? ZERO : cellOf(column, row);
  };

  set(holder: string, key: string, amount: Amount): void {
    if (this.#derived.size > 0) this.#derived.clear();
    const { rows, keys } = this.#axes;
    const row = numberOf(rows, holder);
    const column = this.#ownColumn(numberOf(keys, key));
    const index = row >> BLOCK_BITS;
    while (column.blocks.length <= index)
      column.blocks.push({ owner: this.#owner, amounts: Array.from({ length: BLOCK_ROWS }, () => ZERO) });
    let block = column.blocks[index];
    if (block === undefined) return;
    if (block.owner !== this.#owner) {
      block = { owner: this.#owner, amounts: block.amounts.slice() };
      column.blocks[index] = block;
    }
    block.amounts[row & ROW_MASK] = amount;
  }

  fork(): Usage {
    // From here on both share what there is.
    this.#owner = {};
    return new Usage(this.#axes, this.#columns.slice());
  }

  /** What `make` makes of it: kept, and made anew once something was written. */
  derived<T>(make: (usage: Usage) => T): T {
    // Under each function stands what it has made.
    const known = this.#derived.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make(this);
    this.#derived.set(make, made);
    return made;
  }

  /** A table of its own with what those of them use that are kept. */
  keeping(isKept: (holder: string) => boolean): Usage {
    const { rows, keys } = this.#axes;
    const kept = createUsage();
    for (const holder of rows.keys()) {
      if (!isKept(holder)) continue;
      for (const key of keys.keys()) {
        const amount = this.get(holder, key);
        if (amount !== ZERO) kept.set(holder, key, amount);
      }
    }
    return kept;
  }

  /** What all holders use of this key; undefined: nobody anything. To be read at once, before anything is written. */
  columnOf(key: string): Column | undefined {
    const index = this.#axes.keys.get(key);
    return index === undefined ? undefined : this.#columns[index];
  }

  /** What placement asks about these clusters again and again, with the rows that they have here. Made once for each list. */
  tableOf(clusters: readonly ClusterState[]): ClusterTable {
    const { rows, tables } = this.#axes;
    const known = tables.get(clusters);
    if (known !== undefined) return known;
    const table = new ClusterTable(clusters, (cluster) => numberOf(rows, clusterHolder(cluster)));
    tables.set(clusters, table);
    return table;
  }

  #ownColumn(index: number): Column {
    const column = this.#columns[index];
    if (column?.owner === this.#owner) return column;
    const own: Column = { owner: this.#owner, blocks: column?.blocks.slice() ?? [] };
    this.#columns[index] = own;
    return own;
  }
}

export const createUsage = (): Usage => new Usage({ rows: new Map(), keys: new Map(), tables: new WeakMap() }, []);

/** What one that all holders use of one key is, by row. */
export type Column = { readonly owner: Owner; readonly blocks: Block[] };
type Block = { readonly owner: Owner; readonly amounts: Amount[] };
type Owner = object;

/** The same for all forks: rows and columns come, and never go. */
type Axes = {
  readonly rows: Map<string, number>;
  readonly keys: Map<string, number>;
  readonly tables: WeakMap<readonly ClusterState[], ClusterTable>;
};

const BLOCK_BITS = 6;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const ROW_MASK = BLOCK_ROWS - 1;

export const cellOf = ({ blocks }: Column, row: number): Amount => blocks[row >> BLOCK_BITS]?.amounts[row & ROW_MASK] ?? ZERO;

function numberOf(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

/** Under this name a WorkerCluster holds usage: by resource, whatever the flavor. */
export const clusterHolder = (cluster: string): string => `${CLUSTER_PREFIX}${cluster}`;
export const isClusterHolder = (holder: string): boolean => holder.startsWith(CLUSTER_PREFIX);
const CLUSTER_PREFIX = 'WorkerCluster/';

/** What of a resource nobody of ours holds there. */
export const freeOn = (cluster: ClusterState, usage: Usage, resource: string): Amount =>
  minus(capacityOf(cluster, resource), usage.get(clusterHolder(cluster.name), resource));
