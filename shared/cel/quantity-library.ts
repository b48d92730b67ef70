import type { Environment } from '@marcbachmann/cel-js';
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityOfUnits,
  subtractQuantities,
  toUnits,
} from '../kube/quantity.ts';

/** A resource quantity in a rule. */
class CelQuantity {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const NANOS_PER_UNIT = 1_000_000_000n;
const TYPE = 'kubernetes.Quantity';
const read = (text: string): CelQuantity => new CelQuantity(parseQuantity(text));
const compare = (a: CelQuantity, b: CelQuantity): number => compareQuantities(a.quantity, b.quantity);
const add = (a: CelQuantity, b: Quantity): CelQuantity => new CelQuantity(addQuantities(a.quantity, b));
const subtract = (a: CelQuantity, b: Quantity): CelQuantity => new CelQuantity(subtractQuantities(a.quantity, b));
const isWhole = ({ quantity }: CelQuantity): boolean => quantity.nanos % NANOS_PER_UNIT === 0n;

/** `quantity('1.5Gi')` and its arithmetic. */
export function registerQuantityLibrary(environment: Environment): void {
  environment
    .registerType(TYPE, { ctor: CelQuantity, fields: {} })
    .registerFunction(`quantity(string): ${TYPE}`, read)
    .registerFunction('isQuantity(string): bool', (text: string) => {
      try {
        return read(text) instanceof CelQuantity;
      } catch {
        return false;
      }
    })
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelQuantity, b: CelQuantity) => compare(a, b) === 0)
    .registerFunction(`sign(${TYPE}): int`, ({ quantity: { nanos } }: CelQuantity) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n))
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: CelQuantity, b: CelQuantity) => BigInt(compare(a, b)))
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0)
    .registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0)
    .registerFunction(`${TYPE}.add(${TYPE}): ${TYPE}`, (a: CelQuantity, b: CelQuantity) => add(a, b.quantity))
    .registerFunction(`${TYPE}.add(int): ${TYPE}`, (a: CelQuantity, b: bigint) => add(a, quantityOfUnits(b)))
    .registerFunction(`${TYPE}.sub(${TYPE}): ${TYPE}`, (a: CelQuantity, b: CelQuantity) => subtract(a, b.quantity))
    .registerFunction(`${TYPE}.sub(int): ${TYPE}`, (a: CelQuantity, b: bigint) => subtract(a, quantityOfUnits(b)))
    .registerFunction(`${TYPE}.isInteger(): bool`, isWhole)
    .registerFunction(`${TYPE}.asInteger(): int`, (value: CelQuantity) => {
      if (!isWhole(value)) throw new Error('cannot convert value to integer');
      return toUnits(value.quantity);
    })
    .registerFunction(`${TYPE}.asApproximateFloat(): double`, ({ quantity: { nanos } }: CelQuantity) => Number(nanos) / 1e9);
}
