import { SelectorSyntaxError } from './selectors.ts';

/** One term of a field selector: the field has this value, or has not. A field that an object lacks has the value ''. */
export type FieldRequirement = { readonly field: string; readonly equals: boolean; readonly value: string };
export type FieldRequirements = readonly FieldRequirement[];

/** Reads a selector such as `metadata.name=a,spec.nodeName!=`, with apimachinery's messages. '' matches everything. */
export function parseFieldSelector(text: string): FieldRequirements {
  return (
    splitTerms(text)
      .filter((term) => term !== '')
      .sort()
      .map((term) => parseTerm(text, term))
      // A term without field and value asks for nothing.
      .filter(({ field, value }) => field !== '' || value !== '')
  );
}

/** Whether an object is selected; `valueOf` gives the value of a field, and '' or undefined for one that is absent. */
export const matchesFieldSelector = (requirements: FieldRequirements, valueOf: (field: string) => string | undefined): boolean =>
  requirements.every(({ field, equals, value }) => ((valueOf(field) ?? '') === value) === equals);

/** Commas separate terms unless a backslash stands before them. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let position = 0; position < text.length; position++) {
    if (text[position] === '\\') position++;
    else if (text[position] === ',') {
      terms.push(text.slice(start, position));
      start = position + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(whole: string, term: string): FieldRequirement {
  const operator = /!=|==|=/.exec(term);
  if (operator === null) throw new SelectorSyntaxError(`invalid selector: '${whole}'; can't understand '${term}'`);
  const value = unescape(term.slice(operator.index + operator[0].length));
  return { field: term.slice(0, operator.index), equals: operator[0] !== '!=', value };
}

function unescape(value: string): string {
  let plain = '';
  for (let position = 0; position < value.length; position++) {
    const character = value.charAt(position);
    if (character === ',' || character === '=') {
      throw new SelectorSyntaxError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character !== '\\') {
      plain += character;
      continue;
    }
    const escaped = value.charAt(++position);
    if (!['\\', ',', '='].includes(escaped)) {
      throw new SelectorSyntaxError(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    plain += escaped;
  }
  return plain;
}
