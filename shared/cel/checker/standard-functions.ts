/** The functions and operators of CEL itself, with optional types, as cel-go declares them. `A.f(B): C` is called on a value. */
const COMPARABLE = ['bool', 'string', 'bytes', 'timestamp', 'duration'];
const NUMBERS = ['int', 'uint', 'double'];
const NUMBER_PAIRS = NUMBERS.flatMap((left) => NUMBERS.map((right) => `${left}, ${right}`));
const COMPARED = [...COMPARABLE.map((type) => `${type}, ${type}`), ...NUMBER_PAIRS];

const OPERATORS = [
  '_?_:_(bool, A, A): A',
  '_&&_(bool, bool): bool',
  '_||_(bool, bool): bool',
  '!_(bool): bool',
  '@not_strictly_false(bool): bool',
  '_==_(A, A): bool',
  '_!=_(A, A): bool',
  ...['_<_', '_<=_', '_>_', '_>=_'].flatMap((operator) => COMPARED.map((types) => `${operator}(${types}): bool`)),
  ...['bytes', 'double', 'duration', 'int', 'string', 'uint', 'list<A>'].map((type) => `_+_(${type}, ${type}): ${type}`),
  '_+_(duration, timestamp): timestamp',
  '_+_(timestamp, duration): timestamp',
  ...['double', 'duration', 'int', 'uint'].map((type) => `_-_(${type}, ${type}): ${type}`),
  '_-_(timestamp, duration): timestamp',
  '_-_(timestamp, timestamp): duration',
  ...NUMBERS.flatMap((type) => [`_*_(${type}, ${type}): ${type}`, `_/_(${type}, ${type}): ${type}`]),
  '_%_(int, int): int',
  '_%_(uint, uint): uint',
  '-_(double): double',
  '-_(int): int',
  '_[_](list<A>, int): A',
  '_[_](map<A, B>, A): B',
  '_[_](optional<list<A>>, int): optional<A>',
  '_[_](optional<map<A, B>>, A): optional<B>',
  '_[?_](list<A>, int): optional<A>',
  '_[?_](optional<list<A>>, int): optional<A>',
  '_[?_](map<A, B>, A): optional<B>',
  '_[?_](optional<map<A, B>>, A): optional<B>',
  '@in(A, list<A>): bool',
  '@in(A, map<A, B>): bool',
];

const CONVERSIONS = [
  'type(A): type<A>',
  'dyn(A): dyn',
  ...['bool', 'string'].map((type) => `bool(${type}): bool`),
  ...['bytes', 'string'].map((type) => `bytes(${type}): bytes`),
  ...['double', 'int', 'string', 'uint'].map((type) => `double(${type}): double`),
  ...['duration', 'int', 'string'].map((type) => `duration(${type}): duration`),
  ...['int', 'double', 'duration', 'string', 'timestamp', 'uint'].map((type) => `int(${type}): int`),
  ...['string', 'bool', 'bytes', 'double', 'duration', 'int', 'timestamp', 'uint'].map((type) => `string(${type}): string`),
  ...['timestamp', 'int', 'string'].map((type) => `timestamp(${type}): timestamp`),
  ...['uint', 'double', 'int', 'string'].map((type) => `uint(${type}): uint`),
];

const SIZED = ['bytes', 'list<A>', 'map<A, B>', 'string'];
const TIMESTAMP_PARTS = 'FullYear Month DayOfYear DayOfMonth Date DayOfWeek Hours Minutes Seconds Milliseconds'.split(' ');

const FUNCTIONS = [
  ...SIZED.flatMap((type) => [`size(${type}): int`, `${type}.size(): int`]),
  ...['contains', 'endsWith', 'startsWith', 'matches'].map((name) => `string.${name}(string): bool`),
  'matches(string, string): bool',
  ...TIMESTAMP_PARTS.flatMap((part) => [`timestamp.get${part}(): int`, `timestamp.get${part}(string): int`]),
  ...['Hours', 'Minutes', 'Seconds', 'Milliseconds'].map((part) => `duration.get${part}(): int`),
  'optional.of(A): optional<A>',
  'optional.ofNonZeroValue(A): optional<A>',
  'optional.none(): optional<A>',
  'optional<A>.value(): A',
  'optional<A>.hasValue(): bool',
  'optional<A>.or(optional<A>): optional<A>',
  'optional<A>.orValue(A): A',
  'list<A>.first(): optional<A>',
  'list<A>.last(): optional<A>',
  'optional.unwrap(list<optional<A>>): list<A>',
  'list<optional<A>>.unwrapOpt(): list<A>',
];

export const STANDARD_FUNCTIONS: readonly string[] = [...OPERATORS, ...CONVERSIONS, ...FUNCTIONS];
