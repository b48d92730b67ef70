/** Text in columns of a terminal, which wide characters take two of. Widths may be infinite: then nothing is wrapped or cut. */
import { stripVTControlCharacters } from 'node:util';
import wrapAnsi from 'wrap-ansi';

/** Wrapped between words; words that are longer than a line are broken, unless they are to stay `whole`. */
export function wrapWords(text: string, width: number, { whole = false }: Wrapping = {}): string[] {
  const plain = asOneLine(text);
  return Number.isFinite(width) ? wrapAnsi(plain, Math.max(1, width), { hard: !whole }).split('\n') : [plain];
}

type Wrapping = { readonly whole?: boolean };

/** The lines below the first are indented. */
export const wrapHanging = (text: string, width: number, indent: number, wrapping?: Wrapping): string[] =>
  wrapWords(text, width, wrapping).length === 1
    ? wrapWords(text, width, wrapping)
    : wrapWords(text, width - indent, wrapping).map((line, index) => (index === 0 ? line : `${' '.repeat(indent)}${line}`));

/** As much of a line as fits, with an ellipsis for the rest. */
export function cutLine(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  const cut = (columns: number): string[] => wrapAnsi(text, columns, { hard: true, wordWrap: false, trim: false }).split('\n');
  if (cut(Math.max(1, width)).length === 1) return text;
  return width <= 1 ? '…' : `${(cut(width - 1)[0] ?? '').trimEnd()}…`;
}

/** What programs print may move the cursor or break a line; here it may not. */
const asOneLine = (text: string): string => stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').trim();
