import type { Environment } from '@marcbachmann/cel-js';

type Scalar = bigint | number | string | boolean;

/** The `sets` of `sets.contains(a, b)`: CEL namespaces are receivers here. */
class Sets {}

/** Kubernetes' list functions and the sets extension. */
export function registerListLibrary(environment: Environment): void {
  environment
    .registerFunction('list<int>.sum(): int', (list: bigint[]) => list.reduce((sum, each) => sum + each, 0n))
    .registerFunction('list<double>.sum(): double', (list: number[]) => list.reduce((sum, each) => sum + each, 0))
    .registerFunction('list<T>.min(): T', (list: Scalar[]) => extreme(list, 'min', (a, b) => a < b))
    .registerFunction('list<T>.max(): T', (list: Scalar[]) => extreme(list, 'max', (a, b) => a > b))
    .registerFunction('list<dyn>.isSorted(): bool', (list: Scalar[]) => list.every((each, i) => i === 0 || (list[i - 1] ?? each) <= each))
    .registerFunction('list<dyn>.indexOf(dyn): int', (list: unknown[], wanted: unknown) =>
      BigInt(list.findIndex((each) => same(each, wanted))),
    )
    .registerFunction('list<dyn>.lastIndexOf(dyn): int', (list: unknown[], wanted: unknown) =>
      BigInt(list.findLastIndex((each) => same(each, wanted))),
    )
    .registerType('kubernetes.Sets', { ctor: Sets, fields: {} })
    .registerConstant('sets', 'kubernetes.Sets', new Sets())
    .registerFunction('kubernetes.Sets.contains(list<dyn>, list<dyn>): bool', (_: Sets, whole: unknown[], part: unknown[]) =>
      isSubset(part, whole),
    )
    .registerFunction(
      'kubernetes.Sets.equivalent(list<dyn>, list<dyn>): bool',
      (_: Sets, left: unknown[], right: unknown[]) => isSubset(left, right) && isSubset(right, left),
    )
    .registerFunction('kubernetes.Sets.intersects(list<dyn>, list<dyn>): bool', (_: Sets, left: unknown[], right: unknown[]) =>
      left.some((each) => right.some((other) => same(each, other))),
    );
}

function extreme(list: readonly Scalar[], name: string, better: (a: Scalar, b: Scalar) => boolean): Scalar {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, each) => (better(each, best) ? each : best), first);
}

const isSubset = (part: readonly unknown[], whole: readonly unknown[]): boolean =>
  part.every((each) => whole.some((other) => same(each, other)));

/** Equality of CEL values: numbers by value across int and double, everything else by structure. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left === 'bigint' || typeof right === 'bigint') return isNumeric(left) && isNumeric(right) && Number(left) === Number(right);
  if (Array.isArray(left)) return Array.isArray(right) && left.length === right.length && left.every((each, i) => same(each, right[i]));
  if (left instanceof Date) return right instanceof Date && left.getTime() === right.getTime();
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null || Array.isArray(right)) return false;
  const theirs = new Map(Object.entries(right));
  const ours = Object.entries(left);
  return ours.length === theirs.size && ours.every(([key, each]) => theirs.has(key) && same(each, theirs.get(key)));
}

const isNumeric = (value: unknown): boolean => typeof value === 'bigint' || typeof value === 'number';
