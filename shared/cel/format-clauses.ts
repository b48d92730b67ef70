/** One `%` of a format string. */
export type Clause = { readonly verb: string; readonly precision: number | undefined };

/** A fault of a format string or of what it is to show. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

const PRECISION_DEFAULT = 6;

/** What each verb can show, by cel-go's names of types, and how findings say so. */
const SHOWABLE: Readonly<Record<string, { readonly types: readonly string[]; readonly only: string }>> = {
  s: {
    types: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null', 'dyn'],
    only: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { types: ['int', 'uint', 'dyn'], only: 'decimal clause can only be used on integers' },
  f: { types: ['double', 'dyn'], only: 'fixed-point clause can only be used on doubles' },
  e: { types: ['double', 'dyn'], only: 'scientific clause can only be used on doubles' },
  b: { types: ['int', 'uint', 'bool', 'dyn'], only: 'only integers and bools can be formatted as binary' },
  x: { types: ['int', 'uint', 'string', 'bytes', 'dyn'], only: 'only integers, byte buffers, and strings can be formatted as hex' },
  o: { types: ['int', 'uint', 'dyn'], only: 'octal clause can only be used on integers' },
};

/** Why a clause cannot show a value of a type; undefined when it can. */
export function clauseProblem({ verb }: Clause, type: string): string | undefined {
  const showable = SHOWABLE[verb.toLowerCase()];
  if (showable === undefined || showable.types.includes(type)) return undefined;
  return `error during formatting: ${showable.only}, was given ${type}`;
}

/** The text between clauses, and the clauses. Throws a FormatError at the first that cannot be read. */
export function* readFormat(format: string): Generator<string | Clause> {
  const characters = Array.from(format);
  let text = '';
  for (let i = 0; i < characters.length; i++) {
    if (characters[i] !== '%') {
      text += characters[i];
      continue;
    }
    if (i + 1 >= characters.length) throw new FormatError('unexpected end of string');
    if (characters[i + 1] === '%') {
      text += '%';
      i++;
      continue;
    }
    yield text;
    text = '';
    const { clause, length } = readClause(characters.slice(i + 1).join(''));
    i += length;
    yield clause;
  }
  yield text;
}

function readClause(rest: string): { readonly clause: Clause; readonly length: number } {
  const [, dot = '', digits = ''] = /^(\.)?(\d*)/.exec(rest) ?? [];
  const verb = Array.from(rest.slice(dot === '' ? 0 : dot.length + digits.length))[0] ?? '';
  if (dot !== '' && digits === '') {
    const why = 'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
    throw new FormatError(`could not parse formatting clause: ${why}`);
  }
  if (!/^[sdfebxXo]$/.test(verb))
    throw new FormatError(`could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(verb)}`);
  const precision = dot === '' ? PRECISION_DEFAULT : Number(digits);
  return { clause: { verb, precision }, length: (dot === '' ? 0 : dot.length + digits.length) + verb.length };
}
