import type { Range } from './estimate-range.ts';
import type { SizeOfPath } from './operand.ts';

/**
 * How long the values at one place of a schema can be, as far as costs of expressions depend on it (DeclType of k8s.io/apiserver/pkg/cel).
 */
export type SizedType = {
  /** The greatest length: characters, bytes, items or entries. 0 of what has none. */
  readonly maxElements: number;
  /** The shortest JSON that a value has, in bytes. */
  readonly minSerializedSize: number;
  /** Of an object, by how expressions write their names. */
  readonly fields?: ReadonlyMap<string, SizedType>;
  /** Of the keys of a map. */
  readonly key?: SizedType;
  /** Of the items of a list or the values of a map. */
  readonly element?: SizedType;
};

/** Sizes by a declaration. The first part of a path is not looked at: whatever the variable, it is one of this type. */
export const sizesDeclaredBy =
  (root: SizedType): SizeOfPath =>
  (path): Range | undefined => {
    let current: SizedType | undefined = root;
    for (const part of path.slice(1)) current = partOf(current, part);
    return current === undefined ? undefined : { min: 0, max: current.maxElements };
  };

function partOf(declared: SizedType | undefined, part: string): SizedType | undefined {
  if (part === '@items' || part === '@values') return declared?.element;
  return part === '@keys' ? declared?.key : declared?.fields?.get(part);
}
