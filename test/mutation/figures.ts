import type { MutationConfig } from './config.ts';
import type { Result } from './study.ts';

const HEAD = '| drawn on | by | mutants | noticed by a test | by a test that never ended | by compiler or linter | equivalent | survived |';
const DASHES = '| --- | --- | --- | --- | --- | --- | --- | --- |';

/** What one study has found, as a row of the table in docs/testing.md. */
export function figuresRow(results: readonly Result[], config: Pick<MutationConfig, 'count' | 'seed' | 'budgetMs'>, date: string): string {
  const count = (kind: Result['verdict']['kind']): number => results.filter(({ verdict }) => verdict.kind === kind).length;
  const survived = count('Survived');
  const percent = results.length === 0 ? 0 : (100 * survived) / results.length;
  const cells = [
    date,
    commandOf(config),
    results.length,
    count('Killed'),
    count('TimedOut'),
    count('Refused'),
    count('Equivalent'),
    `${survived} (${percent.toFixed(1)} %)`,
  ];
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
