import type { MutationConfig } from './config.ts';
import type { Result } from './study.ts';

const HEAD = '| date | by | mutants | noticed near | never ended | refused | equivalent | noticed elsewhere | survived | survived near |';
const DASHES = `|${' --- |'.repeat(10)}`;

/** How many mutants each way to notice them has got. */
export type Figures = {
  readonly mutants: number;
  readonly near: number;
  readonly timedOut: number;
  readonly refused: number;
  readonly equivalent: number;
  readonly elsewhere: number;
  readonly survived: number;
};

export function figuresOf(results: readonly Result[]): Figures {
  const count = (kind: Result['verdict']['kind']): number => results.filter(({ verdict }) => verdict.kind === kind).length;
  const near = results.filter(({ verdict }) => verdict.kind === 'Killed' && verdict.near).length;
  return {
    mutants: results.length,
    near,
    timedOut: count('TimedOut'),
    refused: count('Refused'),
    equivalent: count('Equivalent'),
    elsewhere: count('Killed') - near,
    survived: count('Survived'),
  };
}

/** A number of mutants with its part of all, such as `3 (1.0 %)`. */
export const share = (count: number, { mutants }: Figures): string =>
  `${count} (${(mutants === 0 ? 0 : (100 * count) / mutants).toFixed(1)} %)`;

/** What one study has found, as a row of the table in docs/testing.md. */
export function figuresRow(results: readonly Result[], config: Pick<MutationConfig, 'count' | 'seed' | 'budgetMs'>, date: string): string {
  const figures = figuresOf(results);
  const { mutants, near, timedOut, refused, equivalent, elsewhere, survived } = figures;
  const ways = [mutants, near, timedOut, refused, equivalent, elsewhere];
  const cells = [date, commandOf(config), ...ways, share(survived, figures), share(elsewhere + survived, figures)];
  return `| ${cells.join(' | ')} |`;
}

const commandOf = ({ count, seed, budgetMs }: Pick<MutationConfig, 'count' | 'seed' | 'budgetMs'>): string =>
  `\`--count ${count} --seed ${seed} --budget ${budgetMs / 1000}s\``;

/** The document with that row at the end of its table of figures, in place of an earlier one of the same command. Throws without it. */
export function withFiguresRow(document: string, row: string): string {
  const lines = document.split('\n');
  const start = lines.findIndex((line, index) => line === HEAD && lines[index + 1] === DASHES);
  if (start === -1) throw new Error('the document has no table of figures');
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  const command = row.split(' | ')[1];
  const rows = lines.slice(start + 2, end).filter((each) => each.split(' | ')[1] !== command);
  return [...lines.slice(0, start + 2), ...rows, row, ...lines.slice(end)].join('\n');
}
