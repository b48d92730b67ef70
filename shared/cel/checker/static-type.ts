/** A type as the checker of expressions knows it, in cel-go's model. */
export type StaticType = {
  readonly kind: TypeKind;
  /** How findings write it, without parameters. */
  readonly name: string;
  readonly parameters: readonly StaticType[];
  /** Of objects: their fields. Undefined where they are not known, so that every field is dynamic. */
  readonly fields?: ReadonlyMap<string, StaticType>;
};

export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'opaque'
  | 'object'
  | 'param';

const simple = (kind: TypeKind, name: string = kind): StaticType => ({ kind, name, parameters: [] });

export const DYN = simple('dyn');
export const ERROR = simple('error', '!error!');
export const BOOL = simple('bool');
export const INT = simple('int');
export const STRING = simple('string');

const SIMPLE: ReadonlyMap<string, StaticType> = new Map([
  ...[
    DYN,
    BOOL,
    INT,
    STRING,
    simple('null'),
    simple('uint'),
    simple('double'),
    simple('bytes'),
    simple('timestamp'),
    simple('duration'),
  ].map((type): [string, StaticType] => [type.name, type]),
  ['google.protobuf.Timestamp', simple('timestamp')],
  ['google.protobuf.Duration', simple('duration')],
  ['net.IP', simple('opaque', 'net.IP')],
  ['net.CIDR', simple('opaque', 'net.CIDR')],
  ['list', { kind: 'list', name: 'list', parameters: [DYN] }],
  ['map', { kind: 'map', name: 'map', parameters: [DYN, DYN] }],
]);

export const listOf = (item: StaticType): StaticType => ({ kind: 'list', name: 'list', parameters: [item] });
export const mapOf = (key: StaticType, value: StaticType): StaticType => ({ kind: 'map', name: 'map', parameters: [key, value] });
export const typeOf = (type: StaticType): StaticType => ({ kind: 'type', name: 'type', parameters: [type] });
export const optionalOf = (value: StaticType): StaticType => ({ kind: 'opaque', name: 'optional_type', parameters: [value] });
export const paramOf = (name: string): StaticType => simple('param', name);
export const objectOf = (name: string, fields?: ReadonlyMap<string, StaticType>): StaticType => ({
  ...simple('object', name),
  ...(fields === undefined ? {} : { fields }),
});

export const isDynamic = ({ kind }: StaticType): boolean => kind === 'dyn' || kind === 'error';
export const isOptional = ({ kind, name }: StaticType): boolean => kind === 'opaque' && name === 'optional_type';
/** What an optional holds; another type is its own. */
export const unwrapped = (type: StaticType): StaticType => (isOptional(type) ? (type.parameters[0] ?? DYN) : type);

export const sameType = (left: StaticType, right: StaticType): boolean =>
  left === right ||
  (left.kind === right.kind &&
    left.name === right.name &&
    left.parameters.length === right.parameters.length &&
    left.parameters.every((each, i) => sameType(each, right.parameters[i] ?? ERROR)));

/** How findings write a type: `list(int)`. */
export const formatType = ({ name, parameters }: StaticType): string =>
  parameters.length === 0 ? name : `${name}(${parameters.map(formatType).join(', ')})`;

/**
 * Reads `map<string, list<A>>`. One capital letter is a parameter; another name is one of `objects`, or of an object without known fields.
 */
export function readType(text: string, objects?: ReadonlyMap<string, StaticType>): StaticType {
  const open = text.indexOf('<');
  if (open < 0) return SIMPLE.get(text) ?? objects?.get(text) ?? (/^[A-Z]$/.test(text) ? paramOf(text) : objectOf(text));
  const parameters = splitParameters(text.slice(open + 1, text.lastIndexOf('>'))).map((each) => readType(each, objects));
  const [first = DYN, second = DYN] = parameters;
  switch (text.slice(0, open)) {
    case 'list':
      return listOf(first);
    case 'map':
      return mapOf(first, second);
    case 'optional':
      return optionalOf(first);
    case 'type':
      return typeOf(first);
    default:
      return DYN;
  }
}

/** Commas between the outermost parameters only. */
export function splitParameters(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text) {
    if (character === '<') depth++;
    if (character === '>') depth--;
    if (character === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  return part.trim() === '' ? parts : [...parts, part.trim()];
}

/** A type as `readType` reads it. */
export const writeType = (type: StaticType): string => {
  const { name, parameters } = type;
  const own = isOptional(type) ? 'optional' : name;
  return parameters.length === 0 ? own : `${own}<${parameters.map(writeType).join(', ')}>`;
};
