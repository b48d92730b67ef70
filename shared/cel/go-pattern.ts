/**
 * A regular expression of Go (RE2) as one of JavaScript: flags at the start, names of groups, ends of the text and POSIX
 * classes are written differently, and any punctuation may be escaped. Throws a SyntaxError for what is none.
 */
export function compilePattern(pattern: string): RegExp {
  const [, flags = '', body = ''] = /^(?:\(\?([imsU]+)\))?(.*)$/s.exec(pattern) ?? [];
  const source = body
    .replaceAll('(?P<', '(?<')
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$')
    .replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES.get(name) ?? whole)
    .replace(/\\([^\w\s])/g, (whole, character: string) => (SYNTAX.includes(character) ? whole : character));
  return new RegExp(source, `u${[...new Set(flags.replace('U', ''))].join('')}`);
}

/** What must stay escaped, and may: everything else is itself. */
const SYNTAX = '^$\\.*+?()[]{}|/-';

const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['digit', '0-9'],
  ['lower', 'a-z'],
  ['upper', 'A-Z'],
  ['space', '\\s'],
  ['punct', '!-\\/:-@\\[-`\\{-~'],
  ['word', '\\w'],
  ['xdigit', '0-9A-Fa-f'],
]);
