/** `npm run mutate`: which broken lines would no test notice? */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { EXIT_USAGE } from '../../shared/runtime/flags.ts';
import { EQUIVALENTS } from './equivalents.ts';
import { MUTATION_PROGRAM, type MutationConfig } from './config.ts';
import { figuresRow, withFiguresRow } from './figures.ts';
import { createStaticChecks } from './static-checks.ts';
import { formatResult, runStudy, StudyError, type Result } from './study.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FIGURES = path.join(ROOT, 'docs', 'testing.md');

async function study(config: MutationConfig): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new StudyError(`stopped by ${name}`)));
  const checks = createStaticChecks(ROOT);
  try {
    const print = (line: string): void => console.log(line);
    const results = await runStudy({ ...config, root: ROOT, equivalents: EQUIVALENTS, checks, signal: stop.signal, print });
    if (config.record) record(results, config);
    return summarize(results);
  } catch (error) {
    if (!(error instanceof StudyError)) throw error;
    console.error(error.message);
    return EXIT_USAGE;
  } finally {
    checks.close();
  }
}

function record(results: readonly Result[], config: MutationConfig): void {
  const row = figuresRow(results, config, new Date().toISOString().slice(0, 10));
  writeFileSync(FIGURES, withFiguresRow(readFileSync(FIGURES, 'utf8'), row));
}

function summarize(results: readonly Result[]): number {
  const of = (kind: Result['verdict']['kind']): readonly Result[] => results.filter(({ verdict }) => verdict.kind === kind);
  const survivors = of('Survived');
  if (survivors.length > 0) console.log(['', 'Survivors:', ...survivors.map(formatResult)].join('\n'));
  const percent = results.length === 0 ? 0 : (100 * survivors.length) / results.length;
  console.log(
    `\n${results.length} mutants: ${of('Killed').length} killed, ${of('TimedOut').length} timed out, ${of('Refused').length} refused by compiler or linter, ` +
      `${of('Equivalent').length} equivalent, ${survivors.length} survived (${percent.toFixed(1)} %)`,
  );
  return survivors.length === 0 ? 0 : 1;
}

await runCommandLine(MUTATION_PROGRAM, study);
