import type { Environment } from '@marcbachmann/cel-js';
import { same } from './list-library.ts';

type Comparable = bigint | number | string | boolean | Date;

/** The `lists` of `lists.range(n)`: CEL namespaces are receivers here. */
class Lists {}

/** cel-go's list extension, version 3. `sortBy` is a macro. */
export function registerListExtension(environment: Environment): void {
  environment
    .registerFunction('list<T>.slice(int, int): list<T>', slice)
    .registerFunction('list<dyn>.flatten(): list<dyn>', (list: unknown[]) => flatten(list, 1n))
    .registerFunction('list<dyn>.flatten(int): list<dyn>', flatten)
    .registerFunction('list<T>.sort(): list<T>', (list: unknown[]) => sortByKeys(list, list))
    .registerFunction('list<T>.reverse(): list<T>', (list: unknown[]) => list.toReversed())
    .registerFunction('list<T>.distinct(): list<T>', (list: unknown[]) =>
      list.filter((each, i) => list.findIndex((other) => same(each, other)) === i),
    )
    .registerType('kubernetes.Lists', { ctor: Lists, fields: {} })
    .registerConstant('lists', 'kubernetes.Lists', new Lists())
    .registerFunction('kubernetes.Lists.range(int): list<int>', (_: Lists, count: bigint) =>
      Array.from({ length: Math.max(Number(count), 0) }, (_each, i) => BigInt(i)),
    );
}

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  const refuse = (why: string): Error => new Error(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) throw refuse('negative indexes not supported');
  if (start > end) throw refuse('start index must be less than or equal to end index');
  if (BigInt(list.length) < end) throw refuse(`list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

function flatten(list: readonly unknown[], depth: bigint): unknown[] {
  if (depth < 0n) throw new Error('level must be non-negative');
  return list.flatMap((each) => (Array.isArray(each) && depth > 0n ? flatten(each, depth - 1n) : [each]));
}

/** The list in the order of the keys, of which there is one for each item. */
export function sortByKeys(list: readonly unknown[], keys: readonly unknown[]): unknown[] {
  const kind = typeof keys[0];
  if (keys.some((key) => typeof key !== kind)) throw new Error('list elements must have the same type');
  const order = list.map((_, i) => i).toSorted((a, b) => compare(keys[a] as Comparable, keys[b] as Comparable));
  return order.map((i) => list[i]);
}

function compare(left: Comparable, right: Comparable): number {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return left < right ? -1 : left > right ? 1 : 0;
}
