const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);
const ESCAPES: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** How a property is written in a rule; undefined for one that no rule can name. */
export function escapedFieldName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  return /^[A-Za-z_./-][\w./-]*$/.test(name) ? name.replace(/__|[./-]/g, (part) => ESCAPES[part] ?? part) : undefined;
}

/** All ways to write a property in a rule: a reserved word that is no keyword of the language may also be written as it is. */
export function fieldNamesOf(name: string): readonly string[] {
  const escaped = escapedFieldName(name);
  if (escaped === undefined) return [];
  return RESERVED.has(name) && !KEYWORDS.has(name) ? [escaped, name] : [escaped];
}
