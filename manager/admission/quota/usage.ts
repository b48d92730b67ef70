import { minus, ZERO, type Amount } from '../../api/amount.ts';
import { capacityOf, type ClusterState } from './cluster-state.ts';
import { ClusterTable } from './cluster-table.ts';

/**
 * Usage by holder (a node of the quota tree, a WorkerCluster) and key (a flavor resource, a resource). The scheduler decides on a fork. A
 * fork starts with the usage of its origin; later changes of either are invisible to the other.
 *
 * A column per key, a row per holder. Forks share blocks of columns until they write to them, so a fork costs almost nothing. The usage of
 * hundreds of clusters is read in one pass.
 */
export class Usage {
  readonly #axes: Axes;
  #columns: (Column | undefined)[];
  /** Blocks and columns with another owner are shared. */
  #owner: Owner = {};
  /** Versions of what is charged; forks tell those of their origin. */
  #versions: Versions;
  readonly #isOrigin: boolean;
  /** Derived values, valid until the next write. */
  readonly #derived = new Map<(usage: Usage) => unknown, unknown>();

  constructor(axes: Axes, columns: (Column | undefined)[], versions?: Versions) {
    this.#axes = axes;
    this.#columns = columns;
    this.#isOrigin = versions === undefined;
    this.#versions = versions ?? { latest: 0, all: 0, of: new Map() };
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
    // From here on both usages share all blocks.
    this.#owner = {};
    return new Usage(this.#axes, this.#columns.slice(), this.#versions);
  }

  /** Usage in the tree with this root has changed. */
  changed(rootId: string): void {
    if (this.#isOrigin) this.#versions.of.set(rootId, ++this.#versions.latest);
  }

  /** Greater after each {@link changed} of this tree. Other versions mean other usage; the charges to a fork do not count. */
  versionOf(rootId: string): number {
    return this.#versions.of.get(rootId) ?? this.#versions.all;
  }

  /** The result of `make` for this usage, cached until the next write. */
  derived<T>(make: (usage: Usage) => T): T {
    // The map holds under each function the result of that function.
    const known = this.#derived.get(make) as T | undefined;
    if (known !== undefined) return known;
    const made = make(this);
    this.#derived.set(make, made);
    return made;
  }

  /** A new usage with the amounts of the holders that `isKept` selects. */
  restrictedTo(selects: (holder: string) => boolean): Usage {
    const { rows, keys } = this.#axes;
    const kept = createUsage();
    const latest = this.#versions.latest + 1;
    kept.#versions = { latest, all: latest, of: new Map() };
    for (const holder of rows.keys()) {
      if (!selects(holder)) continue;
      for (const key of keys.keys()) {
        const amount = this.get(holder, key);
        if (amount !== ZERO) kept.set(holder, key, amount);
      }
    }
    return kept;
  }

  /** The amounts of all holders for a key; undefined if there are none. Valid until the next write. */
  columnOf(key: string): Column | undefined {
    const index = this.#axes.keys.get(key);
    return index === undefined ? undefined : this.#columns[index];
  }

  /** The table of these clusters, with their rows in this usage. Built once per list. */
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

/** Amounts of one key, by row. */
export type Column = { readonly owner: Owner; readonly blocks: Block[] };
type Block = { readonly owner: Owner; readonly amounts: Amount[] };
type Owner = object;

/** `all`: the version of trees that have not changed since. */
type Versions = { latest: number; readonly all: number; readonly of: Map<string, number> };

/** Rows and columns, shared by all forks; entries are never removed. */
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

/** The holder under which a WorkerCluster has usage, by resource, whatever the flavor. */
export const clusterHolder = (cluster: string): string => `${CLUSTER_PREFIX}${cluster}`;
export const isClusterHolder = (holder: string): boolean => holder.startsWith(CLUSTER_PREFIX);
const CLUSTER_PREFIX = 'WorkerCluster/';

/** The free amount of a resource on a cluster: capacity minus the usage of admitted Jobs. */
export const freeOn = (cluster: ClusterState, usage: Usage, resource: string): Amount =>
  minus(capacityOf(cluster, resource), usage.get(clusterHolder(cluster.name), resource));
