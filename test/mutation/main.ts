/** `npm run mutate`: which broken lines would no test notice? */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { EXIT_USAGE } from '../../shared/runtime/flags.ts';
import { EQUIVALENTS } from './equivalents.ts';
import { MUTATION_PROGRAM, type MutationConfig } from './config.ts';
import { figuresOf, figuresRow, share, withFiguresRow } from './figures.ts';
import { StudyError } from './judge.ts';
import { createStaticChecks } from './static-checks.ts';
import { formatResult, runStudy, type Result } from './study.ts';

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
  const list = (title: string, listed: readonly Result[]): void => {
    if (listed.length > 0) console.log(['', title, ...listed.map(formatResult)].join('\n'));
  };
  list(
    'Noticed only by tests outside of their unit folder:',
    results.filter(({ verdict }) => verdict.kind === 'Killed' && !verdict.near),
  );
  list(
    'Survivors:',
    results.filter(({ verdict }) => verdict.kind === 'Survived'),
  );
  const figures = figuresOf(results);
  const { mutants, near, timedOut, refused, equivalent, elsewhere, survived } = figures;
  console.log(
    `\n${mutants} mutants: ${near} killed by the tests of their unit folder, ${timedOut} timed out, ${refused} refused by compiler or linter, ` +
      `${equivalent} equivalent, ${elsewhere} killed by other tests; ${share(elsewhere + survived, figures)} survived their unit folder, ` +
      `${share(survived, figures)} everything`,
  );
  return survived === 0 ? 0 : 1;
}

await runCommandLine(MUTATION_PROGRAM, study);
