import { stripVTControlCharacters } from 'node:util';
import { plain } from './plain-text.ts';
import { cutLine, wrapWords } from './text-layout.ts';

/** One line of cells, and what is to be said about it beside or below them. */
export type TableRow = { readonly cells: readonly string[]; readonly note: string };

/** A table for a terminal: `spare` names the columns that may be left out when the lines are too long, the first of them first. */
export type Table = { readonly heads: readonly string[]; readonly spare: readonly string[]; readonly rows: readonly TableRow[] };

const GAP = '  ';
const NOTE_INDENT = ' '.repeat(4);

/** Colours a cell of the column under this head, and changes nothing else of it. */
export type Paint = (cell: string, head: string) => string;

/**
 * Lines of at most `width` columns. Cells stand side by side, each column as wide as its widest cell. Notes stand behind the cells where
 * the longest of them fits there, and else below their row, wrapped between words.
 */
export function formatTable({ heads, spare, rows }: Table, width: number, paint: Paint = (text) => text): string[] {
  const cellsOf = rows.map(({ cells }) => cells.map((cell) => plain(cell)));
  const [headLine = '', ...lines] = columnsWithin(width, spare, [heads, ...cellsOf], paint);
  const room = width - stripVTControlCharacters(headLine).length - GAP.length;
  const beside = rows.every(({ note }) => cutLine(note, room) === note);
  const below = (note: string): string[] =>
    note === '' ? [] : wrapWords(note, width - NOTE_INDENT.length).map((line) => `${NOTE_INDENT}${line}`);
  return [
    headLine,
    ...rows.flatMap(({ note }, index) => {
      const line = lines[index] ?? '';
      return beside ? [`${line}${GAP}${note}`] : [line, ...below(note)];
    }),
  ].map((line) => cutLine(line.trimEnd(), width));
}

/** Names and numbers are plain ASCII: a character is a column. */
function columnsWithin(width: number, spare: readonly string[], lines: readonly (readonly string[])[], paint: Paint): string[] {
  const heads = lines[0] ?? [];
  const widths = heads.map((_head, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const [dropped, ...others] = spare;
  const isWide = widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) > width;
  if (isWide && dropped !== undefined) {
    const column = heads.indexOf(dropped);
    const kept = lines.map((cells) => cells.filter((_cell, index) => index !== column));
    return columnsWithin(width, others, kept, paint);
  }
  return lines.map((cells, line) =>
    cells
      .map((cell, column) => `${line === 0 ? cell : paint(cell, heads[column] ?? '')}${' '.repeat((widths[column] ?? 0) - cell.length)}`)
      .join(GAP)
      .trimEnd(),
  );
}
