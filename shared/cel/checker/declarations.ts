import { KUBERNETES_FUNCTIONS } from './kubernetes-functions.ts';
import { STANDARD_FUNCTIONS } from './standard-functions.ts';
import { listOf, DYN, mapOf, optionalOf, paramOf, readType, splitParameters, type StaticType, typeOf } from './static-type.ts';

export type Overload = {
  readonly isMember: boolean;
  /** The value that it is called on comes first. */
  readonly args: readonly StaticType[];
  readonly result: StaticType;
};

/** The types of variables by name. Names may have dots. */
export type Variables = ReadonlyMap<string, StaticType>;

/** Names before a dot that are a function's, not a type's. */
const NAMESPACES: ReadonlySet<string> = new Set(['optional', 'strings', 'sets', 'lists', 'cel', 'ip', 'format']);

/** The overloads of every function by its name. */
export const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = overloadsByName([...STANDARD_FUNCTIONS, ...KUBERNETES_FUNCTIONS]);

/** Names that stand for types in every expression. */
export const TYPE_NAMES: Variables = new Map([
  ...['bool', 'bytes', 'double', 'int', 'string', 'uint', 'google.protobuf.Timestamp', 'google.protobuf.Duration'].map(
    (name): [string, StaticType] => [name, typeOf(readType(name))],
  ),
  ['null_type', typeOf(readType('null'))],
  ['list', typeOf(listOf(DYN))],
  ['map', typeOf(mapOf(DYN, DYN))],
  ['type', typeOf(typeOf(DYN))],
  ['dyn', typeOf(DYN)],
  ['optional_type', typeOf(optionalOf(paramOf('V')))],
  ...['net.IP', 'net.CIDR', 'kubernetes.URL', 'kubernetes.Quantity', 'kubernetes.Semver'].map((name): [string, StaticType] => [
    name,
    typeOf(readType(name)),
  ]),
]);

function overloadsByName(declarations: readonly string[]): Map<string, Overload[]> {
  const byName = new Map<string, Overload[]>();
  for (const declaration of declarations) {
    const { name, overload } = readDeclaration(declaration);
    byName.set(name, [...(byName.get(name) ?? []), overload]);
  }
  return byName;
}

/** Reads `list<A>.indexOf(A): int`. */
function readDeclaration(text: string): { readonly name: string; readonly overload: Overload } {
  const open = text.indexOf('(');
  const close = text.lastIndexOf('): ');
  const called = text.slice(0, open);
  const dot = called.lastIndexOf('.');
  const owner = dot < 0 || called.startsWith('_') ? '' : called.slice(0, dot);
  const isMember = owner !== '' && !NAMESPACES.has(owner);
  const args = splitParameters(text.slice(open + 1, close)).map((each) => readType(each));
  return {
    name: isMember ? called.slice(dot + 1) : called,
    overload: { isMember, args: isMember ? [readType(owner), ...args] : args, result: readType(text.slice(close + 3)) },
  };
}
